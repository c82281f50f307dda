"""Forgetting old steps: less to keep, and nothing lost of what a thread is now."""

from __future__ import annotations

from datetime import timedelta

import pytest

from caesura import START, StateGraph, interrupt, once
from caesura.errors import AuthoringError, ThreadBusy, UnknownStep, UnknownThread
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, id_of, saying, told


def prune(app, graph, thread: str | None = "t", **options):
    return app.call(graph, "prune", thread, **options)


@pytest.fixture
def three_days(app, line):
    """Three runs of the line, a day apart."""
    for day in (1, 2, 3):
        app.run(line, {"amount": day})
        app.wait(days=1)
    return line


def test_the_last_steps_are_kept(app, finished):
    prune(app, finished, keep_last=2)
    assert told(app.history(finished)) == [("loop", 3, ()), ("loop", 2, ("c",))]


def test_the_number_of_forgotten_steps_comes_back(app, finished):
    assert prune(app, finished, keep_last=2) == 3


def test_the_state_does_not_change(app, finished):
    state = app.state(finished)
    prune(app, finished, keep_last=1)
    assert app.state(finished) == state


def test_the_steps_that_remain_are_as_they_were(app, finished):
    history = app.history(finished)
    prune(app, finished, keep_last=3)
    assert app.history(finished) == history[:3]


def test_the_steps_that_remain_can_be_looked_up(app, finished):
    prune(app, finished, keep_last=3)
    history = app.history(finished)
    assert [app.state(finished, thread=entry.config) for entry in history] == history


def test_the_steps_that_remain_can_be_gone_back_to(app, finished):
    prune(app, finished, keep_last=3)
    assert app.run(finished, None, config=before(app, finished, "b").config)["notes"] == [
        "a",
        "b",
        "c",
    ]


def test_a_forgotten_step_is_named_as_unknown(app, finished):
    old = before(app, finished, "b")
    prune(app, finished, keep_last=1)
    with pytest.raises(UnknownStep):
        app.state(finished, thread=old.config)
    with pytest.raises(UnknownStep):
        app.run(finished, None, config=old.config)


def test_the_thread_goes_on(app, finished):
    last = id_of(app.state(finished))
    prune(app, finished, keep_last=1)
    result = app.run(finished, {"amount": 2})
    assert result == {"amount": 2, "notes": ["a", "b", "c"] * 2}
    history = app.history(finished)
    assert [entry.metadata["step"] for entry in history] == [8, 7, 6, 5, 4, 3]
    assert id_of(history[-1]) == last


def test_a_waiting_thread_can_still_be_answered(app, waiting):
    (question,) = app.state(waiting).interrupts
    prune(app, waiting, keep_last=1)
    assert app.state(waiting).interrupts == (question,)
    app.record_answer(waiting, question.id, "yes")
    assert app.go_on(waiting)["notes"] == ["draft", "good? yes", "ship"]


def test_effects_of_a_waiting_node_are_not_repeated(app, till):
    def pay(state):
        return {"notes": [once(till.charge, 5), interrupt("good?")]}

    graph = app.chain(saying("a"), saying("b"), pay)
    app.run(graph, {"amount": 1})
    prune(app, graph, keep_last=1)
    assert app.answer(graph, "yes")["notes"] == ["a", "b", "receipt 1", "yes"]
    assert till.charged == [5]


def test_a_thread_that_waits_in_a_child_can_be_pruned(app):
    child = StateGraph(Story).add_node(asking("good?")).add_edge(START, "review")
    builder = StateGraph(Story).add_node(saying("a")).add_node("child", child.compile(name="child"))
    graph = app.compile(builder.add_edge(START, "a").add_edge("a", "child"))
    app.run(graph, {"amount": 1})
    prune(app, graph, keep_last=1)
    assert app.state(graph, subgraphs=True).tasks[0].state.next == ("review",)
    assert app.answer(graph, "yes")["notes"] == ["a", "a", "good? yes"]


def test_pruning_twice_forgets_what_is_old_by_then(app, finished):
    prune(app, finished, keep_last=2)
    app.run(finished, {"amount": 2})
    assert prune(app, finished, keep_last=2) == 5
    assert len(app.history(finished)) == 2


def test_pruning_again_at_once_forgets_nothing(app, finished):
    prune(app, finished, keep_last=2)
    assert prune(app, finished, keep_last=2) == 0


def test_steps_younger_than_an_age_are_kept(app, three_days):
    prune(app, three_days, older_than=timedelta(days=1, hours=12))
    assert {entry.values["amount"] for entry in app.history(three_days)[:-1]} == {3}


def test_an_age_can_be_given_in_seconds(app, three_days):
    assert prune(app, three_days, older_than=1.5 * 24 * 3600) == 10


def test_with_both_a_step_has_to_be_old_and_beyond_the_last_ones(app, three_days):
    prune(app, three_days, older_than=timedelta(hours=1), keep_last=7)
    assert len(app.history(three_days)) >= 7
    prune(app, three_days, older_than=timedelta(days=30), keep_last=1)
    assert len(app.history(three_days)) >= 7


def test_the_last_step_is_kept_however_old(app, finished):
    app.wait(days=1000)
    prune(app, finished, older_than=timedelta(days=1))
    assert told(app.history(finished)) == [("loop", 3, ())]


def test_all_threads_of_a_graph_are_pruned_if_none_is_named(app, finished):
    app.run(finished, {"amount": 1}, thread="other")
    assert prune(app, finished, None, keep_last=1) == 8
    assert len(app.history(finished, thread="other")) == 1


def test_threads_of_other_graphs_are_left_alone(app, finished):
    other = app.chain(saying("a"), saying("b"), name="another story")
    app.run(other, {"amount": 1}, thread="theirs")
    prune(app, finished, None, keep_last=1)
    assert len(app.history(other, thread="theirs")) == 4


def test_a_thread_that_is_being_run_is_left_alone(app, finished):
    forgotten = []

    def meddle(state):
        with pytest.raises(ThreadBusy):
            graph.prune("busy", keep_last=1)
        forgotten.append(graph.prune(keep_last=1))
        return {"notes": ["done"]}

    graph = app.chain(meddle)
    app.run(finished, {"amount": 1}, thread="idle")
    assert app.run(graph, {"amount": 1}, thread="busy")["notes"] == ["done"]
    assert forgotten == [8]


def test_the_store_keeps_less(app, finished):
    records = len(app.store.read("t"))
    prune(app, finished, keep_last=1)
    assert len(app.store.read("t")) < records


def test_the_pruned_thread_is_there_after_a_restart(app, line):
    app.run(line, {"amount": 1})
    prune(app, line, keep_last=2)
    app.restart()
    again = app.chain(saying("a"), saying("b"), saying("c"))
    assert told(app.history(again)) == [("loop", 3, ()), ("loop", 2, ("c",))]


def test_nothing_said_is_refused(app, finished):
    with pytest.raises(AuthoringError, match="older_than"):
        prune(app, finished)


def test_to_keep_nothing_is_refused(app, finished):
    with pytest.raises(AuthoringError, match="at least its last step"):
        prune(app, finished, keep_last=0)


def test_a_thread_that_never_was_is_named(app, line):
    with pytest.raises(UnknownThread, match="'t'"):
        prune(app, line, keep_last=1)
