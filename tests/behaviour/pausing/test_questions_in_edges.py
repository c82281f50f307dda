"""A conditional edge's function may fail or ask; the node before it has happened all the same."""

from __future__ import annotations

import pytest

from caesura import END, START, StateGraph, interrupt, once
from tests.behaviour.both import Story


@pytest.fixture
def broken():
    """True while the edge's function fails."""
    return [True]


def routed(app, work, route):
    """work, then wherever `route` says: ship or the end."""

    def ship(state):
        return {"notes": ["shipped"]}

    builder = StateGraph(Story).add_node("work", work).add_node(ship)
    builder.add_edge(START, "work").add_conditional_edges("work", route, ["ship", END])
    builder.add_edge("ship", END)
    return app.compile(builder)


@pytest.fixture
def work(till):
    """A node with an effect that nothing protects, so that a rerun of it shows."""

    def work(state):
        till.charge(5)
        return {"notes": ["worked"]}

    return work


@pytest.fixture
def failing(app, work, broken):
    def route(state):
        if broken:
            raise ValueError("no route")
        return "ship"

    return routed(app, work, route)


def test_a_failing_edge_is_raised(app, failing):
    with pytest.raises(ValueError, match="no route"):
        app.run(failing, {})


def test_a_failing_edge_is_called_again_and_nothing_is_skipped(app, failing, broken):
    with pytest.raises(ValueError, match="no route"):
        app.run(failing, {})
    broken.clear()
    assert app.go_on(failing)["notes"] == ["worked", "shipped"]


def test_a_failing_edge_fails_as_often_as_it_is_called(app, failing):
    for attempt in (
        lambda: app.run(failing, {}),
        lambda: app.go_on(failing),
        lambda: app.go_on(failing),
    ):
        with pytest.raises(ValueError, match="no route"):
            attempt()


def test_a_retry_of_an_edge_does_not_run_its_node_again(app, failing, broken, till):
    with pytest.raises(ValueError, match="no route"):
        app.run(failing, {})
    broken.clear()
    app.go_on(failing)
    assert till.charged == [5]


def test_the_result_of_the_node_before_a_failing_edge_can_be_seen(app, failing):
    with pytest.raises(ValueError, match="no route"):
        app.run(failing, {})
    assert app.state(failing).values["notes"] == ["worked"]


# ----------------------------------------------------------------------------------------- asking
@pytest.fixture(params=["a sync edge", "an async edge"])
def asking(request, app, work):
    def route(state):
        return "ship" if interrupt("ship it?") == "yes" else END

    async def route_on_a_loop(state):
        return route(state)

    return routed(app, work, route if request.param == "a sync edge" else route_on_a_loop)


def test_an_edge_may_ask(app, asking):
    assert [question.value for question in app.run(asking, {}).interrupts] == ["ship it?"]


@pytest.mark.parametrize(
    ("answer", "notes"),
    [("yes", ["worked", "shipped"]), ("no", ["worked"])],
)
def test_an_edge_goes_where_the_answer_says(app, asking, answer, notes):
    app.run(asking, {})
    assert app.answer(asking, answer)["notes"] == notes


def test_an_edge_that_asks_does_not_run_its_node_again(app, asking, till):
    app.run(asking, {})
    app.answer(asking, "yes")
    assert till.charged == [5]


def test_an_edge_that_asks_goes_on_after_a_restart(app, work):
    def route(state):
        return "ship" if interrupt("ship it?") == "yes" else END

    app.run(routed(app, work, route), {})
    app.restart()
    assert app.answer(routed(app, work, route), "yes")["notes"] == ["worked", "shipped"]


def test_an_edge_that_eats_its_pause_waits(app, work):
    def route(state):
        try:
            interrupt("ship it?")
        except BaseException:
            pass
        return "ship"

    graph = routed(app, work, route)
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["ship it?"]
    assert app.answer(graph, "yes")["notes"] == ["worked", "shipped"]


def test_an_edge_s_effect_happens_once(app, till):
    def work(state):
        return {"notes": ["worked"]}

    def route(state):
        once(till.charge, 1)
        return "ship" if interrupt("ship it?") == "yes" else END

    graph = routed(app, work, route)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert till.charged == [1]


def test_an_edge_and_its_node_may_ask_the_same(app):
    def work(state):
        return {"notes": [interrupt("sure?")]}

    def route(state):
        return "ship" if interrupt("sure?") == "yes" else END

    graph = routed(app, work, route)
    (of_the_node,) = app.run(graph, {}).interrupts
    (of_the_edge,) = app.answer(graph, "worked").interrupts
    result = app.answer(graph, "yes")

    assert of_the_edge.id != of_the_node.id
    assert result["notes"] == ["worked", "shipped"]


def test_the_edge_at_the_start_may_ask(app):
    def fast(state):
        return {"notes": ["fast"]}

    def slow(state):
        return {"notes": ["slow"]}

    builder = StateGraph(Story).add_node(fast).add_node(slow)
    builder.add_conditional_edges(START, lambda state: interrupt("which way?"), ["fast", "slow"])
    graph = app.compile(builder)
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["which way?"]
    assert app.answer(graph, "slow")["notes"] == ["slow"]


def test_the_edge_at_the_start_that_failed_is_called_again(app, broken):
    def fast(state):
        return {"notes": ["fast"]}

    def route(state):
        if broken:
            raise ValueError("no route")
        return "fast"

    builder = StateGraph(Story).add_node(fast)
    builder.add_conditional_edges(START, route, ["fast"])
    graph = app.compile(builder)
    with pytest.raises(ValueError, match="no route"):
        app.run(graph, {})
    broken.clear()

    assert app.go_on(graph)["notes"] == ["fast"]
