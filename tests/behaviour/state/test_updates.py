"""Changing a thread from outside: `update_state` and `bulk_update_state`."""

from __future__ import annotations

import pytest

from caesura import END, START, Command, Overwrite, Send, StateGraph, interrupt, once
from caesura.errors import InvalidUpdateError, QuestionClosed, ThreadBusy
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, id_of, parent_of, saying, told


def update_at(app, graph, step, values, **options):
    return app.update(graph, values, thread=step.config, **options)


class TestWhatAnUpdateDoes:
    def test_it_goes_through_the_reducers(self, app, finished):
        app.update(finished, {"notes": ["by hand"], "amount": 9})
        assert app.state(finished).values == {"amount": 9, "notes": ["a", "b", "c", "by hand"]}

    def test_it_can_replace_what_a_reducer_gathered(self, app, finished):
        app.update(finished, {"notes": Overwrite(["only this"])})
        assert app.state(finished).values["notes"] == ["only this"]

    def test_it_makes_an_entry_of_its_own(self, app, finished):
        last = app.state(finished)
        config = app.update(finished, {"notes": ["by hand"]})
        newest = app.history(finished)[0]
        assert told([newest]) == [("update", 4, ())]
        assert (id_of(newest), parent_of(newest)) == (id_of(config), id_of(last))

    def test_it_runs_nothing(self, app, finished):
        app.update(finished, {"notes": ["by hand"]}, as_node="a")
        assert app.state(finished).values["notes"] == ["a", "b", "c", "by hand"]

    def test_without_values_it_only_moves_the_thread(self, app, finished):
        app.update(finished, None, as_node="b")
        assert app.state(finished).next == ("c",)
        assert app.go_on(finished)["notes"] == ["a", "b", "c", "c"]

    def test_on_a_thread_that_never_was_it_begins_one(self, app, line):
        app.update(line, {"notes": ["seed"]}, thread="new")
        assert told(app.history(line, thread="new")) == [("update", 0, ("a",))]
        assert app.go_on(line, thread="new")["notes"] == ["seed", "a", "b", "c"]

    def test_what_is_not_writable_leaves_the_thread_as_it_was(self, app, finished):
        with pytest.raises(InvalidUpdateError):
            app.update(finished, 7)
        assert len(app.history(finished)) == 5

    def test_a_thread_that_is_being_run_is_left_alone(self, app):
        seen = []

        def meddle(state):
            with pytest.raises(ThreadBusy) as caught:
                graph.update_state("t", {"notes": ["meddled"]})
            seen.append(caught.value.thread)
            return {"notes": ["done"]}

        graph = app.chain(meddle)
        assert app.run(graph, {"amount": 1})["notes"] == ["done"]
        assert seen == ["t"]


class TestAsWhichNode:
    def test_the_named_one_s_edges_are_followed(self, app, finished):
        app.update(finished, {"notes": ["again"]}, as_node="a")
        assert app.state(finished).next == ("b",)
        assert app.go_on(finished)["notes"] == ["a", "b", "c", "again", "b", "c"]

    def test_the_named_one_s_conditional_edges_see_the_new_state(self, app):
        builder = StateGraph(Story).add_node(saying("a")).add_node(saying("big"))
        builder.add_node(saying("small")).add_edge(START, "a")
        builder.add_conditional_edges("a", lambda s: "big" if s["amount"] > 9 else "small")
        graph = app.compile(builder)
        app.update(graph, {"amount": 10}, as_node="a")
        assert app.state(graph).next == ("big",)

    def test_an_edge_that_asks_for_the_config_gets_it(self, app):
        def route(state, config):
            return "b" if config["configurable"] is not None else END

        builder = StateGraph(Story).add_node(saying("a")).add_node(saying("b"))
        graph = app.compile(builder.add_edge(START, "a").add_conditional_edges("a", route))
        app.update(graph, {"amount": 10}, as_node="a")
        assert app.state(graph).next == ("b",)

    def test_the_one_that_wrote_last_if_nobody_says(self, app, line):
        app.run(line, {"amount": 1}, interrupt_after=["b"])
        app.update(line, {"notes": ["by hand"]})
        assert app.state(line).next == ("c",)

    def test_several_that_wrote_last_have_to_be_told_apart(self, app):
        graph = app.side_by_side(saying("a"), saying("b"))
        app.run(graph, {"amount": 1})
        with pytest.raises(InvalidUpdateError, match="as_node='a'"):
            app.update(graph, {"notes": ["whose?"]})

    def test_an_unknown_one_is_refused_with_the_nearest_name(self, app, waiting):
        with pytest.raises(InvalidUpdateError, match="'review'"):
            app.update(waiting, {"notes": ["?"]}, as_node="reveiw")

    def test_the_one_that_waits_is_taken_as_done_and_its_question_closed(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        app.update(waiting, {"notes": ["good enough"]}, as_node="review")
        assert app.go_on(waiting)["notes"] == ["draft", "good enough", "ship"]
        with pytest.raises(QuestionClosed, match="withdrawn"):
            app.record_answer(waiting, question.id, "yes")

    def test_what_was_written_for_a_waiting_node_is_its_result_in_the_history(self, app, waiting):
        app.update(waiting, {"notes": ["good enough"]}, as_node="review")
        (task,) = before(app, waiting, "review").tasks
        assert task.result == {"notes": ["good enough"]}

    def test_a_task_can_be_named_among_several_of_one_node(self, app):
        def fan(state):
            return [Send("work", {"amount": 1}), Send("work", {"amount": 2})]

        builder = StateGraph(Story).add_node("work", asking("?")).add_conditional_edges(START, fan)
        graph = app.compile(builder)
        app.run(graph, {"amount": 0})
        second = app.state(graph).tasks[1]
        app.update(graph, {"notes": ["by hand"]}, as_node="work", task_id=second.id)
        results = [task.result for task in before(app, graph, "work", "work").tasks]
        assert results == [None, {"notes": ["by hand"]}]

    def test_a_command_leads_where_it_says_beside_the_edges(self, app, line):
        app.run(line, {"amount": 1}, interrupt_before=["b"])
        app.update(line, Command(update={"notes": ["by command"]}, goto="c"), as_node="a")
        assert app.state(line).next == ("b", "c")
        assert app.state(line).values["notes"] == ["a", "by command"]

    def test_a_join_that_was_complete_stays_so_until_its_node_runs(self, app):
        builder = StateGraph(Story).add_node(saying("a")).add_node(saying("b"))
        builder.add_node(saying("both")).add_edge(START, "a").add_edge(START, "b")
        graph = app.compile(builder.add_edge(["a", "b"], "both"), interrupt_before=["both"])
        app.run(graph, {"amount": 1})
        app.update(graph, {"notes": ["mine"]}, as_node="a")
        assert app.state(graph).next == ("both",)

    def test_half_a_join_waits_for_the_other_half(self, app):
        builder = StateGraph(Story).add_node(saying("a")).add_node(saying("b"))
        builder.add_node(saying("both")).add_edge(START, "a").add_edge(["a", "b"], "both")
        graph = app.compile(builder)
        app.run(graph, {"amount": 1})
        app.update(graph, {"notes": ["b by hand"]}, as_node="b")
        assert app.go_on(graph)["notes"] == ["a", "b by hand", "both"]


class TestSpecialNodes:
    def test_as_the_end_nothing_is_next(self, app, waiting):
        app.update(waiting, None, as_node=END)
        assert (app.state(waiting).next, app.state(waiting).interrupts) == ((), ())
        assert app.go_on(waiting)["notes"] == ["draft"]

    def test_as_the_end_what_siblings_finished_is_kept(self, app):
        graph = app.side_by_side(asking("good?"), saying("quick"))
        app.run(graph, {"amount": 1})
        app.update(graph, None, as_node=END)
        assert app.state(graph).values["notes"] == ["quick"]

    def test_as_the_end_half_a_join_is_kept(self, app):
        builder = StateGraph(Story).add_node(saying("a")).add_node(saying("b"))
        builder.add_node(saying("both")).add_edge(START, "a").add_edge("a", "b")
        graph = app.compile(builder.add_edge(["a", "b"], "both"), interrupt_before=["b"])
        app.run(graph, {"amount": 1})
        app.update(graph, None, as_node=END)
        app.update(graph, {"notes": ["b by hand"]}, as_node="b")
        assert app.state(graph).next == ("both",)

    def test_as_the_end_an_input_that_waits_is_dropped(self, app, finished):
        app.update(finished, {"amount": 2}, as_node="__input__")
        app.update(finished, None, as_node=END)
        assert app.state(finished).values["amount"] == 1
        assert app.history(finished)[1].tasks[0].result is None

    def test_as_an_input_the_next_call_begins_with_it(self, app, finished):
        app.update(finished, {"amount": 2}, as_node="__input__")
        assert told(app.history(finished, limit=1)) == [("input", 4, ("__start__",))]
        assert app.state(finished).values["amount"] == 1
        result = app.go_on(finished)
        assert (result["amount"], result["notes"]) == (2, ["a", "b", "c"] * 2)

    def test_as_an_input_the_open_question_is_withdrawn(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        app.update(waiting, {"amount": 2}, as_node="__input__")
        assert app.status_of(question.id) == "withdrawn"

    def test_as_a_copy_the_step_is_there_once_more_beside_itself(self, app, finished):
        old = before(app, finished, "b")
        update_at(app, finished, old, None, as_node="__copy__")
        newest = app.history(finished)[0]
        assert told([newest]) == [("fork", 2, ("b",))]
        assert parent_of(newest) == parent_of(old)

    def test_as_a_copy_of_the_head_what_waits_asks_anew(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        app.update(waiting, None, as_node="__copy__")
        assert app.status_of(question.id) == "withdrawn"
        assert [asked.value for asked in app.go_on(waiting).interrupts] == ["good?"]


class TestFixAndRetry:
    def test_a_failed_node_runs_again_on_the_corrected_state(self, app):
        def divide(state):
            return {"notes": [f"{10 // state['amount']}"]}

        graph = app.chain(saying("a"), divide)
        with pytest.raises(ZeroDivisionError):
            app.run(graph, {"amount": 0})
        app.update(graph, {"amount": 5})
        assert app.go_on(graph)["notes"] == ["a", "2"]

    def test_the_failure_stays_in_the_history(self, app):
        def divide(state):
            return {"notes": [f"{10 // state['amount']}"]}

        graph = app.chain(divide)
        with pytest.raises(ZeroDivisionError):
            app.run(graph, {"amount": 0})
        app.update(graph, {"amount": 5}, as_node=START)
        errors = [task.error for entry in app.history(graph) for task in entry.tasks]
        assert [type(error) for error in errors if error] == [ZeroDivisionError]

    def test_an_effect_that_was_performed_before_the_failure_is_not_repeated(self, app, till):
        def pay(state):
            receipt = once(till.charge, 1, key="deposit")
            return {"notes": [f"{receipt}: {10 // state['amount']}"]}

        graph = app.chain(saying("a"), pay)
        with pytest.raises(ZeroDivisionError):
            app.run(graph, {"amount": 0})
        app.update(graph, {"amount": 5})
        assert app.go_on(graph)["notes"] == ["a", "receipt 1: 2"]
        assert till.charged == [1]

    def test_an_effect_that_failed_is_tried_again(self, app):
        attempts = []

        def send(amount):
            attempts.append(amount)
            if len(attempts) == 1:
                raise ConnectionError("down")
            return "sent"

        def notify(state):
            return {"notes": [once(send, 1)]}

        graph = app.chain(saying("a"), notify)
        with pytest.raises(ConnectionError):
            app.run(graph, {"amount": 0})
        app.update(graph, {"amount": 5})
        assert app.go_on(graph)["notes"] == ["a", "sent"]


def test_an_update_that_came_with_an_answer_belongs_to_the_step_that_it_came_to(app, waiting):
    waited_at = app.state(waiting)
    app.run(waiting, Command(resume="yes", update={"notes": ["in passing"]}))
    entry = before(app, waiting, "review")
    assert id_of(entry) == id_of(waited_at)
    assert entry.values["notes"] == ["draft", "in passing"]


def test_a_goto_beside_an_open_question_is_shown_in_the_step_that_ran_it(app):
    def ask(state):
        return {"notes": [interrupt("?")]}

    builder = StateGraph(Story).add_node(ask).add_node(saying("side")).add_edge(START, "ask")
    graph = app.compile(builder)
    app.run(graph, {"amount": 1})
    waited_at = app.state(graph)
    app.run(graph, Command(goto="side"))
    state = app.state(graph)
    assert id_of(state) == id_of(waited_at)
    assert {task.name: task.result for task in state.tasks} == {
        "ask": None,
        "side": {"notes": ["side"]},
    }
