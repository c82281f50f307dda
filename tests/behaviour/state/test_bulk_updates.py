"""Several updates at once: `bulk_update_state`."""

from __future__ import annotations

import pytest

from caesura import END, START, StateGraph, StateUpdate
from caesura.errors import InvalidUpdateError
from tests.behaviour.both import Story
from tests.behaviour.state.words import id_of, saying, told


def bulk(app, graph, *supersteps):
    return app.call(graph, "bulk_update_state", "t", list(supersteps))


def test_each_superstep_is_an_entry(app, line):
    bulk(
        app,
        line,
        [StateUpdate({"notes": ["x"]}, "a")],
        [StateUpdate({"notes": ["y"]}, "b")],
    )
    assert told(app.history(line)) == [("update", 1, ("c",)), ("update", 0, ("b",))]
    assert app.state(line).values["notes"] == ["x", "y"]


def test_updates_of_one_superstep_meet_in_a_join(app):
    builder = StateGraph(Story).add_node(saying("a")).add_node(saying("b"))
    builder.add_node(saying("both")).add_edge(START, "a").add_edge(["a", "b"], "both")
    graph = app.compile(builder)
    bulk(app, graph, [StateUpdate({"notes": ["x"]}, "a"), StateUpdate({"notes": ["y"]}, "b")])
    assert app.state(graph).next == ("both",)


def test_a_conversation_from_elsewhere_can_be_told(app, line):
    bulk(
        app,
        line,
        [StateUpdate({"amount": 3}, "__input__")],
        [StateUpdate({"amount": 3}, START)],
        [StateUpdate({"notes": ["a, elsewhere"]}, "a")],
    )
    assert told(app.history(line)) == [
        ("update", 1, ("b",)),
        ("update", 0, ("a",)),
        ("input", -1, ("__start__",)),
    ]
    assert app.go_on(line)["notes"] == ["a, elsewhere", "b", "c"]


def test_all_or_none_of_them_happen(app, finished):
    with pytest.raises(InvalidUpdateError):
        bulk(
            app,
            finished,
            [StateUpdate({"notes": ["x"]}, "a")],
            [StateUpdate({"notes": ["y"]}, "nowhere")],
        )
    assert len(app.history(finished)) == 5


@pytest.mark.parametrize("supersteps", [[], [[]], [[StateUpdate({}, "a")], []]])
def test_nothing_is_no_update(app, finished, supersteps):
    with pytest.raises(ValueError, match="at least one StateUpdate"):
        bulk(app, finished, *supersteps)


def test_a_special_node_stands_alone(app, finished):
    with pytest.raises(InvalidUpdateError, match="alone"):
        bulk(app, finished, [StateUpdate(None, END), StateUpdate({"notes": ["x"]}, "a")])


def test_the_config_of_the_last_step_comes_back(app, line):
    config = bulk(app, line, [StateUpdate({"notes": ["x"]}, "a")])
    assert id_of(config) == id_of(app.state(line))
