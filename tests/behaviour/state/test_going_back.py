"""Time travel: an older step becomes the head again, and nothing is overwritten."""

from __future__ import annotations

import pytest

from caesura import END, START, Command, Send, StateGraph, interrupt, once
from caesura.errors import QuestionClosed, UnknownStep
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, id_of, parent_of, saying, told


def go_back(app, graph, step, value=None, **options):
    return app.run(graph, value, config=step.config, **options)


@pytest.fixture
def calls():
    return []


@pytest.fixture
def counting(app, calls):
    """Three steps that count how often they ran."""

    def node(word):
        def run(state):
            calls.append(word)
            return {"notes": [f"{word}{calls.count(word)}"]}

        run.__name__ = word
        return run

    graph = app.chain(node("a"), node("b"), node("c"))
    app.run(graph, {"amount": 1})
    return graph


class TestReplaying:
    def test_what_came_after_the_step_runs_again(self, app, counting, calls):
        go_back(app, counting, before(app, counting, "b"))
        assert calls == ["a", "b", "c", "b", "c"]
        assert app.state(counting).values["notes"] == ["a1", "b2", "c2"]

    def test_a_fork_of_the_step_is_the_new_branch_s_first_entry(self, app, counting):
        old = before(app, counting, "b")
        go_back(app, counting, old)
        newest = app.history(counting)[:3]
        assert told(newest) == [("loop", 4, ()), ("loop", 3, ("c",)), ("fork", 2, ("b",))]
        assert parent_of(newest[-1]) == id_of(old)

    def test_the_old_branch_stays_as_it_was(self, app, counting):
        old = app.history(counting)
        go_back(app, counting, before(app, counting, "b"))
        assert app.history(counting)[3:] == old

    def test_the_end_of_the_old_branch_can_be_gone_back_to(self, app, counting):
        old = app.state(counting)
        go_back(app, counting, before(app, counting, "b"))
        assert go_back(app, counting, old)["notes"] == ["a1", "b1", "c1"]
        assert app.state(counting).values["notes"] == ["a1", "b1", "c1"]

    def test_the_very_beginning_runs_everything_again(self, app, counting, calls):
        go_back(app, counting, app.history(counting)[-1])
        assert calls == ["a", "b", "c"] * 2

    def test_the_head_is_no_time_travel(self, app, counting, calls):
        go_back(app, counting, app.state(counting))
        assert calls == ["a", "b", "c"]
        assert len(app.history(counting)) == 5

    def test_a_fork_can_be_forked(self, app, counting):
        go_back(app, counting, before(app, counting, "b"))
        fork = app.history(counting, filter={"source": "fork"})[0]
        go_back(app, counting, fork)
        assert parent_of(app.history(counting, filter={"source": "fork"})[0]) == id_of(fork)

    def test_sends_are_sent_again_with_what_they_carried(self, app):
        def fan(state):
            return [Send("work", {"amount": n}) for n in (1, 2)]

        def work(state):
            return {"notes": [f"work {state['amount']}"]}

        builder = StateGraph(Story).add_node(work).add_conditional_edges(START, fan)
        graph = app.compile(builder)
        app.run(graph, {"amount": 0})
        again = go_back(app, graph, before(app, graph, "work", "work"))
        assert again["notes"] == ["work 1", "work 2"]

    def test_a_step_that_does_not_exist_is_refused_and_nothing_changes(self, app, counting):
        config = {"configurable": {"thread_id": "t", "checkpoint_id": "f" * 32}}
        with pytest.raises(UnknownStep):
            app.run(counting, None, config=config)
        assert len(app.history(counting)) == 5

    def test_a_step_of_a_thread_that_never_was_is_refused(self, app, counting):
        config = {"configurable": {"thread_id": "new", "checkpoint_id": "f" * 32}}
        with pytest.raises(UnknownStep):
            app.run(counting, {"amount": 1}, config=config)
        assert app.history(counting, thread="new") == []

    def test_after_a_restart_it_works_the_same(self, app, line):
        app.run(line, {"amount": 1})
        old = before(app, line, "b")
        app.restart()
        again = app.chain(saying("a"), saying("b"), saying("c"))
        assert go_back(app, again, old)["notes"] == ["a", "b", "c"]
        assert len(app.history(again)) == 8


class TestOtherValuesThere:
    def test_an_input_at_an_older_step_goes_on_from_its_state(self, app, counting):
        old = before(app, counting, "b")
        result = go_back(app, counting, old, {"amount": 2})
        assert result == {"amount": 2, "notes": ["a1", "a2", "b2", "c2"]}

    def test_an_input_at_an_older_step_makes_no_entry_but_its_own(self, app, counting):
        old = before(app, counting, "b")
        go_back(app, counting, old, {"amount": 2})
        entry = app.history(counting, filter={"source": "input"})[0]
        assert told([entry]) == [("input", 2, ("__start__",))]
        assert parent_of(entry) == id_of(old)
        assert len(app.history(counting)) == 5 + 5

    def test_an_update_of_an_older_step_makes_one_entry_that_follows_it(self, app, counting):
        old = before(app, counting, "b")
        config = app.update(counting, {"notes": ["by hand"]}, thread=old.config)
        newest = app.history(counting)[0]
        assert told([newest]) == [("update", 2, ("b",))]
        assert (id_of(newest), parent_of(newest)) == (id_of(config), id_of(old))
        assert len(app.history(counting)) == 6

    def test_an_updated_older_step_is_gone_on_from(self, app, counting):
        app.update(counting, {"notes": ["x"]}, thread=before(app, counting, "b").config)
        assert app.go_on(counting)["notes"] == ["a1", "x", "b2", "c2"]

    def test_an_older_step_can_be_updated_as_another_node(self, app, counting):
        app.update(
            counting, {"notes": ["x"]}, thread=before(app, counting, "a").config, as_node="b"
        )
        assert app.go_on(counting)["notes"] == ["x", "c2"]

    def test_two_updates_of_one_step_are_two_branches(self, app, counting):
        old = before(app, counting, "b")
        for word in ("first", "second"):
            app.update(counting, {"notes": [word]}, thread=old.config)
            app.go_on(counting)
        branches = app.history(counting, filter={"source": "update"})
        assert [branch.values["notes"] for branch in branches] == [
            ["a1", "second"],
            ["a1", "first"],
        ]
        assert [parent_of(branch) for branch in branches] == [id_of(old)] * 2

    def test_a_command_at_an_older_step_changes_the_state_there(self, app, counting):
        command = Command(update={"notes": ["x"]})
        result = go_back(app, counting, before(app, counting, "b"), command)
        assert result["notes"] == ["a1", "x", "b2", "c2"]

    def test_what_came_with_a_command_is_part_of_the_step_that_is_gone_back_to(self, app, line):
        app.run(line, {"amount": 1}, interrupt_before=["b"])
        app.run(line, Command(update={"notes": ["noted"]}))
        old = before(app, line, "b")
        assert old.values["notes"] == ["a", "noted"]
        assert go_back(app, line, old)["notes"] == ["a", "noted", "b", "c"]


class TestQuestions:
    def test_an_answered_question_is_asked_again(self, app, waiting):
        app.answer(waiting, "yes")
        again = go_back(app, waiting, before(app, waiting, "review"))
        assert [question.value for question in again.interrupts] == ["good?"]
        assert app.answer(waiting, "no")["notes"] == ["draft", "good? no", "ship"]

    def test_it_is_another_question_than_the_first(self, app, waiting):
        (first,) = app.state(waiting).interrupts
        app.answer(waiting, "yes")
        (second,) = go_back(app, waiting, before(app, waiting, "review")).interrupts
        assert first.id != second.id
        with pytest.raises(QuestionClosed):
            app.record_answer(waiting, first.id, "no")

    def test_a_question_that_is_open_now_is_withdrawn(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        go_back(app, waiting, before(app, waiting, "draft"))
        assert app.status_of(question.id) == "withdrawn"

    def test_the_waiting_step_itself_is_the_head_and_keeps_its_question(self, app, waiting):
        asked = app.state(waiting).interrupts
        again = go_back(app, waiting, app.state(waiting))
        assert tuple(again.interrupts) == asked
        answered = go_back(app, waiting, app.state(waiting), Command(resume="yes"))
        assert answered["notes"] == ["draft", "good? yes", "ship"]

    def test_a_sibling_that_had_finished_runs_again(self, app, calls):
        def quick(state):
            calls.append("quick")
            return {"notes": ["quick"]}

        graph = app.side_by_side(asking("good?"), quick)
        app.run(graph, {"amount": 1})
        app.answer(graph, "yes")
        go_back(app, graph, before(app, graph, "quick", "review"))
        assert calls == ["quick", "quick"]


class TestEffects:
    def test_they_happen_again_on_the_new_branch(self, app, till):
        def pay(state):
            return {"notes": [once(till.charge, 5)]}

        graph = app.chain(pay)
        app.run(graph, {"amount": 1})
        assert go_back(app, graph, before(app, graph, "pay"))["notes"] == ["receipt 2"]
        assert till.charged == [5, 5]

    def test_the_new_branch_has_idempotency_keys_of_its_own(self, app):
        keys = []

        def pay(state):
            once(lambda: keys.append(once.key()), key="pay")
            return {}

        graph = app.chain(pay)
        app.run(graph, {"amount": 1})
        old = before(app, graph, "pay")
        go_back(app, graph, old)
        app.update(graph, {"amount": 2}, thread=old.config, as_node=START)
        app.go_on(graph)
        assert len(set(keys)) == 3

    def test_an_effect_of_a_node_that_waits_again_is_not_repeated_by_the_answer(self, app, till):
        def pay(state):
            receipt = once(till.charge, 5)
            return {"notes": [receipt, interrupt("good?", key="good")]}

        graph = app.chain(pay)
        app.run(graph, {"amount": 1})
        app.answer(graph, "yes")
        go_back(app, graph, before(app, graph, "pay"))
        assert app.answer(graph, "no")["notes"] == ["receipt 2", "no"]
        assert till.charged == [5, 5]


class TestBreakpoints:
    def test_a_breakpoint_before_the_step_gone_back_to_does_not_hold_it(self, app):
        graph = app.chain(saying("a"), saying("b"), interrupt_before=["b"])
        app.run(graph, {"amount": 1})
        held = app.state(graph)
        app.go_on(graph)
        assert go_back(app, graph, held)["notes"] == ["a", "b"]

    def test_those_of_the_old_call_are_gone(self, app, line):
        app.run(line, {"amount": 1}, interrupt_before=["c"])
        app.go_on(line)
        assert go_back(app, line, before(app, line, "a"))["notes"] == ["a", "b", "c"]

    def test_those_of_the_new_call_count(self, app, finished):
        go_back(app, finished, before(app, finished, "a"), interrupt_before=["c"])
        assert app.state(finished).next == ("c",)

    def test_those_of_the_thread_last(self, app, finished):
        finished.breakpoints("t").add("c")
        go_back(app, finished, before(app, finished, "a"))
        assert app.state(finished).next == ("c",)


def test_a_loop_can_be_gone_back_into(app):
    def count(state):
        return {"amount": state["amount"] + 1}

    def more(state):
        return "count" if state["amount"] < 3 else END

    builder = StateGraph(Story).add_node(count).add_edge(START, "count")
    graph = app.compile(builder.add_conditional_edges("count", more))
    app.run(graph, {"amount": 0})
    middle = next(entry for entry in app.history(graph) if entry.values.get("amount") == 2)
    assert go_back(app, graph, middle)["amount"] == 3
    assert [entry.values["amount"] for entry in app.history(graph)[:2]] == [3, 2]
