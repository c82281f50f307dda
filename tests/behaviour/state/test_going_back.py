"""Time travel: an older step becomes the head again, and nothing is overwritten."""

from __future__ import annotations

import pytest

from caesura import END, START, Command, Send, StateGraph, interrupt, once
from caesura.errors import (
    AmbiguousAnswer,
    InvalidAnswer,
    NotFound,
    QuestionClosed,
    UnknownStep,
)
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


@pytest.fixture
def asked_twice(app):
    """A node with two questions, the second after the first was answered; both are answered."""

    def review(state):
        first = interrupt("colour?", key="colour")
        return {"notes": [f"{first} {interrupt('size?', key='size')}"]}

    graph = app.chain(saying("draft"), review)
    app.run(graph, {"amount": 1})
    app.answer(graph, "red")
    app.answer(graph, "small")
    return graph


@pytest.fixture
def side_by_side(app):
    """Two nodes of one step that ask; both are answered."""
    graph = app.side_by_side(asking("good?", "review"), asking("cheap?", "price"))
    app.run(graph, {"amount": 1})
    app.answer(graph, {"good?": "yes", "cheap?": "yes"})
    return graph


class TestAnswersThere:
    def test_what_the_step_had_asked_gets_the_answer(self, app, waiting):
        app.answer(waiting, "yes")
        step = before(app, waiting, "review")
        again = go_back(app, waiting, step, Command(resume="no"))
        assert again["notes"] == ["draft", "good? no", "ship"]

    def test_after_a_restart_it_works_the_same(self, app, waiting):
        app.answer(waiting, "yes")
        app.restart()
        again = app.chain(saying("draft"), asking("good?"), saying("ship"))
        answered = go_back(app, again, before(app, again, "review"), Command(resume="no"))
        assert answered["notes"] == ["draft", "good? no", "ship"]

    def test_a_question_without_a_key_gets_the_answer(self, app):
        def review(state):
            return {"notes": [interrupt("good?")]}

        graph = app.chain(saying("draft"), review)
        app.run(graph, {"amount": 1})
        app.answer(graph, "yes")
        again = go_back(app, graph, before(app, graph, "review"), Command(resume="no"))
        assert again["notes"] == ["draft", "no"]

    def test_the_answer_of_the_old_branch_stays(self, app, waiting):
        (first,) = app.state(waiting).interrupts
        app.answer(waiting, "yes")
        go_back(app, waiting, before(app, waiting, "review"), Command(resume="no"))
        assert app.status_of(first.id) == "answered"
        with pytest.raises(QuestionClosed):
            app.record_answer(waiting, first.id, "no")

    def test_a_step_of_an_answered_branch_can_be_answered_again_and_again(self, app, waiting):
        app.answer(waiting, "1")
        for answer in ("2", "3"):
            step = before(app, waiting, "review")
            again = go_back(app, waiting, step, Command(resume=answer))
            assert again["notes"] == ["draft", f"good? {answer}", "ship"]

    def test_a_question_that_was_open_when_the_thread_went_back_gets_the_answer(self, app, waiting):
        step = app.state(waiting)
        go_back(app, waiting, before(app, waiting, "draft"))
        again = go_back(app, waiting, step, Command(resume="no"))
        assert again["notes"] == ["draft", "good? no", "ship"]

    def test_a_node_that_asks_something_else_there_asks_it(self, app, waiting):
        app.answer(waiting, "yes")
        step = before(app, waiting, "review")
        changed = app.chain(saying("draft"), asking("really good?"), saying("ship"))
        asked = go_back(app, changed, step, Command(resume="no"))
        assert [question.value for question in asked.interrupts] == ["really good?"]

    def test_the_question_after_the_answered_one_is_asked_anew(self, app, asked_twice):
        step = before(app, asked_twice, "review")
        asked = go_back(app, asked_twice, step, Command(resume="blue"))
        assert [question.value for question in asked.interrupts] == ["size?"]
        assert app.answer(asked_twice, "large")["notes"] == ["draft", "blue large"]

    def test_a_map_by_key_answers_what_came_later_too(self, app, asked_twice):
        step = before(app, asked_twice, "review")
        resume = {"colour": "blue", "size": "large"}
        again = go_back(app, asked_twice, step, Command(resume=resume))
        assert again["notes"] == ["draft", "blue large"]

    def test_a_map_by_the_ids_of_then_answers(self, app, waiting):
        (first,) = app.state(waiting).interrupts
        app.answer(waiting, "yes")
        step = before(app, waiting, "review")
        again = go_back(app, waiting, step, Command(resume={first.id: "no"}))
        assert again["notes"] == ["draft", "good? no", "ship"]

    def test_of_several_questions_the_unanswered_are_asked_anew(self, app, side_by_side):
        step = before(app, side_by_side, "price", "review")
        asked = go_back(app, side_by_side, step, Command(resume={"good?": "no"}))
        assert [question.value for question in asked.interrupts] == ["cheap?"]
        assert app.answer(side_by_side, "no")["notes"] == ["cheap? no", "good? no"]

    def test_an_answer_that_could_be_for_several_is_refused(self, app, side_by_side):
        step = before(app, side_by_side, "price", "review")
        with pytest.raises(AmbiguousAnswer, match=r"'good\?'.*'cheap\?'|'cheap\?'.*'good\?'"):
            go_back(app, side_by_side, step, Command(resume="no"))

    def test_an_answer_that_does_not_fit_is_refused_and_nothing_changes(self, app):
        def review(state):
            return {"notes": [str(interrupt("how many?", schema=int))]}

        graph = app.chain(saying("draft"), review)
        app.run(graph, {"amount": 1})
        app.answer(graph, 1)
        state, steps = app.state(graph), app.history(graph)
        with pytest.raises(InvalidAnswer, match="many"):
            go_back(app, graph, before(app, graph, "review"), Command(resume="many"))
        assert (app.state(graph), app.history(graph)) == (state, steps)

    def test_a_step_that_asked_nothing_has_no_use_for_an_answer(self, app, waiting):
        step = before(app, waiting, "draft")
        with pytest.raises(NotFound, match="asked nothing"):
            go_back(app, waiting, step, Command(resume="no"))
        assert app.open_questions(waiting) == ["good?"]

    def test_an_update_may_come_with_the_answer(self, app, waiting):
        app.answer(waiting, "yes")
        step, both = before(app, waiting, "review"), Command(resume="no", update={"amount": 2})
        again = go_back(app, waiting, step, both)
        assert (again["amount"], again["notes"]) == (2, ["draft", "good? no", "ship"])

    def test_the_question_of_an_edge_gets_the_answer(self, app):
        def choose(state):
            return interrupt("where?", key="where")

        builder = StateGraph(Story).add_node("draft", saying("draft"))
        builder.add_node("ship", saying("ship")).add_node("bin", saying("bin"))
        builder.add_edge(START, "draft").add_conditional_edges("draft", choose, ["ship", "bin"])
        graph = app.compile(builder)
        app.run(graph, {"amount": 1})
        app.answer(graph, "bin")
        again = go_back(app, graph, before(app, graph, "draft"), Command(resume="ship"))
        assert again["notes"] == ["draft", "ship"]

    def test_the_question_of_a_child_gets_the_answer_at_the_child_s_step(self, app):
        child = app.chain(saying("look"), asking("good?"), checkpointer=None, name="child")
        builder = StateGraph(Story).add_node("child", child).add_edge(START, "child")
        graph = app.compile(builder)
        app.run(graph, {"amount": 1})
        inside = app.state(graph, subgraphs=True).tasks[0].state
        app.answer(graph, "yes")
        with pytest.raises(NotFound, match="a graph within it"):
            go_back(app, graph, before(app, graph, "child"), Command(resume="no"))
        again = go_back(app, graph, inside, Command(resume="no"))
        assert again["notes"] == ["look", "good? no"]

    def test_a_deadline_begins_anew(self, app):
        def review(state):
            return {"notes": [interrupt("good?", key="good", timeout="1h", default="nobody")]}

        graph = app.chain(saying("draft"), review)
        app.run(graph, {"amount": 1})
        app.wait(hours=2)
        assert app.go_on(graph)["notes"] == ["draft", "nobody"]
        again = go_back(app, graph, before(app, graph, "review"), Command(resume="yes"))
        assert again["notes"] == ["draft", "yes"]


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
