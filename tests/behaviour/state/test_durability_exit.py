"""`durability="exit"`: one entry for each call, and nothing given up that must not be lost."""

from __future__ import annotations

import pytest

from caesura import START, Command, StateGraph, interrupt, once
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, before, id_of, parent_of, saying, told

EXIT = {"durability": "exit"}


@pytest.fixture
def writing(app):
    """Steps around a question."""
    return app.chain(saying("a"), saying("b"), asking("good?"), saying("c"), saying("d"))


def test_a_call_makes_one_entry_that_counts_its_steps(app, line):
    result = app.run(line, {"amount": 1}, **EXIT)
    assert result["notes"] == ["a", "b", "c"]
    assert told(app.history(line)) == [("loop", 3, ())]


def test_each_call_s_entry_follows_that_of_the_call_before(app, line):
    for amount in (1, 2):
        app.run(line, {"amount": amount}, **EXIT)
    second, first = app.history(line)
    assert told([second, first]) == [("loop", 8, ()), ("loop", 3, ())]
    assert (parent_of(second), parent_of(first)) == (id_of(first), None)


def test_the_state_is_what_the_call_returned(app, line):
    assert app.run(line, {"amount": 1}, **EXIT) == app.state(line).values


def test_a_pause_makes_the_entry_at_which_the_thread_waits(app, writing):
    app.run(writing, {"amount": 1}, **EXIT)
    assert told(app.history(writing)) == [("loop", 2, ("review",))]
    assert app.state(writing).parent_config is None


def test_the_pause_stays_in_the_history_when_it_is_over(app, writing):
    app.run(writing, {"amount": 1}, **EXIT)
    app.answer(writing, "yes", **EXIT)
    last, paused = app.history(writing)
    assert told([last, paused]) == [("loop", 5, ()), ("loop", 2, ("review",))]
    assert parent_of(last) == id_of(paused)


def test_the_pause_can_be_gone_back_to(app, writing):
    app.run(writing, {"amount": 1}, **EXIT)
    paused = app.state(writing)
    app.answer(writing, "yes", **EXIT)
    again = app.run(writing, None, config=paused.config, **EXIT)
    assert [question.value for question in again.interrupts] == ["good?"]
    assert app.answer(writing, "no", **EXIT)["notes"] == ["a", "b", "good? no", "c", "d"]


def test_going_back_makes_one_entry_that_follows_the_step(app, line):
    app.run(line, {"amount": 1})
    old = before(app, line, "b")
    app.run(line, None, config=old.config, **EXIT)
    newest, *others = app.history(line)
    assert (parent_of(newest), len(others)) == (id_of(old), 5)


def test_an_input_at_an_older_step_makes_one_entry_too(app, line):
    app.run(line, {"amount": 1})
    old = before(app, line, "b")
    app.run(line, {"amount": 2}, config=old.config, **EXIT)
    newest, *others = app.history(line)
    assert (parent_of(newest), len(others)) == (id_of(old), 5)


def test_a_pause_in_the_first_node_is_an_entry(app):
    graph = app.chain(asking("good?"), saying("c"))
    app.run(graph, {"amount": 1}, **EXIT)
    assert told(app.history(graph)) == [("loop", 0, ("review",))]


def test_an_answer_survives_although_the_next_steps_were_not_written(app, writing):
    app.run(writing, {"amount": 1}, **EXIT)
    (question,) = app.state(writing).interrupts
    app.record_answer(writing, question.id, "yes", by="ana")
    app.restart()
    again = app.chain(saying("a"), saying("b"), asking("good?"), saying("c"), saying("d"))
    assert app.go_on(again, **EXIT)["notes"] == ["a", "b", "good? yes", "c", "d"]


def test_an_effect_that_was_performed_is_not_repeated_after_a_failure(app, till):
    broken = [True]

    def pay(state):
        receipt = once(till.charge, 5)
        if broken:
            raise ValueError("broken")
        return {"notes": [receipt]}

    graph = app.chain(saying("a"), pay, saying("b"))
    with pytest.raises(ValueError, match="broken"):
        app.run(graph, {"amount": 1}, **EXIT)
    broken.clear()
    assert app.go_on(graph, **EXIT)["notes"] == ["a", "receipt 1", "b"]
    assert till.charged == [5]


def test_effects_on_the_way_do_not_make_more_entries(app, till):
    def pay(state):
        return {"notes": [once(till.charge, 5)]}

    graph = app.chain(saying("a"), pay, saying("b"))
    app.run(graph, {"amount": 1}, **EXIT)
    assert told(app.history(graph)) == [("loop", 3, ())]


def test_a_failure_keeps_the_steps_before_it(app):
    def fail(state):
        raise ValueError("broken")

    graph = app.chain(saying("a"), fail)
    with pytest.raises(ValueError, match="broken"):
        app.run(graph, {"amount": 1}, **EXIT)
    assert app.state(graph).values["notes"] == ["a"]
    assert app.state(graph).next == ("fail",)


def test_an_entry_by_a_conditional_edge_makes_one_entry_too(app):
    builder = StateGraph(Story).add_node(saying("a"))
    graph = app.compile(builder.add_conditional_edges(START, lambda state: "a"))
    app.run(graph, {"amount": 1}, **EXIT)
    assert told(app.history(graph)) == [("loop", 1, ())]


def test_siblings_join_in_one_entry(app):
    graph = app.side_by_side(saying("a"), saying("b"))
    assert app.run(graph, {"amount": 1}, **EXIT)["notes"] == ["a", "b"]
    assert told(app.history(graph)) == [("loop", 1, ())]


def test_a_child_s_pause_is_kept(app):
    def ask(state):
        return {"notes": [interrupt("good?")]}

    child = StateGraph(Story).add_node(saying("one")).add_node(ask).add_edge(START, "one")
    child = child.add_edge("one", "ask").compile(name="child")
    builder = StateGraph(Story).add_node(saying("a")).add_node("child", child)
    graph = app.compile(builder.add_edge(START, "a").add_edge("a", "child"))
    app.run(graph, {"amount": 1}, **EXIT)
    assert app.state(graph, subgraphs=True).tasks[0].state.next == ("ask",)
    assert app.answer(graph, "yes", **EXIT)["notes"] == ["a", "a", "one", "yes"]


def test_what_came_with_an_answer_is_in_the_state(app, writing):
    app.run(writing, {"amount": 1}, **EXIT)
    command = Command(resume="yes", update={"notes": ["in passing"]})
    notes = app.run(writing, command, **EXIT)["notes"]
    assert notes == ["a", "b", "in passing", "good? yes", "c", "d"]


def test_calls_of_both_kinds_mix(app, line):
    app.run(line, {"amount": 1})
    app.run(line, {"amount": 2}, **EXIT)
    app.run(line, {"amount": 3})
    assert len(app.history(line)) == 5 + 1 + 5
    assert app.state(line).values["notes"] == ["a", "b", "c"] * 3
