"""The history of a thread: what its steps were, in which order, and how to pick some of them."""

from __future__ import annotations

from datetime import datetime

import pytest

from caesura import Command
from caesura.errors import AuthoringError, UnknownStep
from tests.behaviour.state.words import asking, before, id_of, parent_of, saying, told


def test_a_call_with_input_makes_an_entry_for_the_input_and_one_for_each_step(app, finished):
    assert told(app.history(finished)) == [
        ("loop", 3, ()),
        ("loop", 2, ("c",)),
        ("loop", 1, ("b",)),
        ("loop", 0, ("a",)),
        ("input", -1, ("__start__",)),
    ]


def test_every_entry_shows_the_state_as_it_was(app, finished):
    notes = [entry.values["notes"] for entry in app.history(finished)]
    assert notes == [["a", "b", "c"], ["a", "b"], ["a"], [], []]


def test_the_entry_of_an_input_shows_the_state_before_it(app, finished):
    assert "amount" not in app.history(finished)[-1].values


def test_every_entry_names_the_one_before_it(app, finished):
    history = app.history(finished)
    assert [parent_of(entry) for entry in history] == [*map(id_of, history[1:]), None]


def test_ids_sort_in_the_order_in_which_the_steps_were_made(app, finished):
    ids = [id_of(entry) for entry in app.history(finished)]
    assert ids == sorted(set(ids), reverse=True)


def test_times_grow_strictly_although_the_clock_stands_still(app, finished):
    times = [datetime.fromisoformat(entry.created_at) for entry in app.history(finished)]
    assert times == sorted(set(times), reverse=True)


def test_times_grow_strictly_when_the_clock_goes_back(app, finished):
    app.wait(hours=-1)
    app.run(finished, {"amount": 2})
    times = [entry.created_at for entry in app.history(finished)]
    assert times == sorted(set(times), reverse=True)


def test_metadata_is_exactly_source_step_and_parents(app, finished):
    assert all(set(e.metadata) == {"source", "step", "parents"} for e in app.history(finished))


def test_steps_are_counted_on_by_the_next_input(app, finished):
    app.run(finished, {"amount": 2})
    assert [entry.metadata["step"] for entry in app.history(finished)] == list(range(8, -2, -1))


def test_a_step_whose_node_wrote_nothing_has_an_entry_too(app):
    def quiet(state):
        return None

    graph = app.chain(quiet)
    app.run(graph, {"amount": 1})
    assert [entry.next for entry in app.history(graph)] == [(), ("quiet",), ("__start__",)]


def test_past_tasks_tell_what_they_wrote(app, finished):
    results = [[task.result for task in entry.tasks] for entry in app.history(finished)]
    assert results == [
        [],
        [{"notes": ["c"]}],
        [{"notes": ["b"]}],
        [{"notes": ["a"]}],
        [{"amount": 1}],
    ]


def test_several_writes_of_one_key_are_said_to_be_several(app):
    def twice(state):
        return [Command(update={"notes": ["one"]}), Command(update={"notes": ["two"]})]

    graph = app.chain(twice)
    app.run(graph, {"amount": 1})
    (task,) = before(app, graph, "twice").tasks
    assert task.result == {"notes": {"$writes": [["one"], ["two"]]}}


def test_a_task_that_failed_and_was_tried_again_tells_both(app):
    broken = [True]

    def shaky(state):
        if broken.pop():
            raise ValueError("out of paper")
        return {"notes": ["printed"]}

    graph = app.chain(shaky)
    with pytest.raises(ValueError, match="out of paper"):
        app.run(graph, {"amount": 1})
    broken.append(False)
    app.go_on(graph)
    (task,) = before(app, graph, "shaky").tasks
    assert "out of paper" in str(task.error)
    assert task.result == {"notes": ["printed"]}


def test_a_question_stays_in_the_history_after_it_was_answered(app, waiting):
    (question,) = app.state(waiting).interrupts
    app.answer(waiting, "yes")
    assert before(app, waiting, "review").interrupts == (question,)


def test_a_thread_that_waits_shows_the_committed_state_in_its_history(app):
    def finish(state):
        return {"notes": ["finished"]}

    graph = app.side_by_side(finish, asking("good?"))
    app.run(graph, {"amount": 1})
    assert app.history(graph)[0].values["notes"] == []
    assert app.history(graph)[0].next == ("finish", "review")
    assert app.state(graph).values["notes"] == ["finished"]
    assert app.state(graph).next == ("review",)


class TestPicking:
    def test_the_newest_few(self, app, finished):
        assert told(app.history(finished, limit=2)) == [("loop", 3, ()), ("loop", 2, ("c",))]

    def test_none_at_all(self, app, finished):
        assert app.history(finished, limit=0) == []

    def test_by_source(self, app, finished):
        app.update(finished, {"notes": ["by hand"]})
        assert told(app.history(finished, filter={"source": "update"})) == [("update", 4, ())]

    def test_by_source_and_number(self, app, finished):
        assert told(app.history(finished, filter={"source": "loop", "step": 1})) == [
            ("loop", 1, ("b",))
        ]

    def test_a_filter_comes_before_the_limit(self, app, finished):
        assert told(app.history(finished, filter={"step": 0}, limit=1)) == [("loop", 0, ("a",))]

    def test_the_one_that_a_config_names(self, app, finished):
        step = before(app, finished, "b")
        assert app.history(finished, thread=step.config) == [step]

    def test_before_a_step_named_by_its_config(self, app, finished):
        bound = before(app, finished, "b")
        assert told(app.history(finished, before=bound.config)) == [
            ("loop", 0, ("a",)),
            ("input", -1, ("__start__",)),
        ]

    def test_before_a_step_named_by_its_id(self, app, finished):
        bound = before(app, finished, "b")
        assert len(app.history(finished, before=id_of(bound))) == 2

    def test_before_the_first_step_there_is_nothing(self, app, finished):
        assert app.history(finished, before=app.history(finished)[-1].config) == []

    def test_before_a_config_without_a_step_is_refused(self, app, finished):
        with pytest.raises(AuthoringError, match="before="):
            app.history(finished, before={"configurable": {"thread_id": "t"}})

    def test_before_a_step_of_another_thread_is_refused(self, app, finished):
        app.run(finished, {"amount": 1}, thread="other")
        theirs = app.state(finished, thread="other")
        with pytest.raises(UnknownStep):
            app.history(finished, before=theirs.config)


def test_a_thread_that_never_was_has_no_history(app, line):
    assert app.history(line, thread="nobody") == []


def test_the_history_is_there_after_a_restart(app, line):
    app.run(line, {"amount": 1})
    told_before = told(app.history(line))
    app.restart()
    again = app.chain(saying("a"), saying("b"), saying("c"))
    assert told(app.history(again)) == told_before
