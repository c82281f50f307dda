"""The rows that say which tasks ended, when and how: one for each, for whoever counts them."""

from __future__ import annotations

from typing import Any

import pytest

from caesura import RetryPolicy, interrupt
from tests.behaviour.both import THREAD, App, Story


def quick(state: Story) -> dict[str, Any]:
    return {"notes": ["quick"]}


def ask(state: Story) -> dict[str, Any]:
    return {"notes": [interrupt("sure?")]}


def fail(state: Story) -> None:
    raise ValueError("broken")


def ran(app: App) -> list[tuple[str, str]]:
    return [(row.node, row.outcome) for row in app.store.runs(THREAD)]


def test_a_task_that_ended_has_a_row_and_one_that_waits_has_none(app: App) -> None:
    graph = app.chain(quick, ask)
    app.run(graph, {"amount": 1})
    assert ran(app) == [("quick", "done")]
    app.answer(graph, "yes")
    assert ran(app) == [("quick", "done"), ("ask", "done")]


def test_a_task_that_failed_is_counted_as_that_until_it_is_done(app: App) -> None:
    with pytest.raises(ValueError, match="broken"):
        app.run(app.chain(quick, fail), {"amount": 1})
    assert ran(app) == [("quick", "done"), ("fail", "failed")]

    def mended(state: Story) -> None:
        return None

    mended.__name__ = "fail"
    app.go_on(app.chain(quick, mended))
    assert ran(app) == [("quick", "done"), ("fail", "done")]


def test_siblings_have_a_row_each(app: App) -> None:
    app.run(app.side_by_side(quick, ask), {"amount": 1})
    assert ran(app) == [("quick", "done")]


def test_attempts_of_one_task_are_one_row(app: App) -> None:
    attempts: list[int] = []

    def shaky(state: Story) -> None:
        attempts.append(1)
        if len(attempts) < 3:
            raise ConnectionError

    from caesura import START, StateGraph

    policy = RetryPolicy(initial_interval=0.001, jitter=False)
    builder = StateGraph(Story).add_node(shaky, retry_policy=policy).add_edge(START, "shaky")
    app.run(app.compile(builder), {"amount": 1})
    assert ran(app) == [("shaky", "done")]


def test_a_row_says_when_its_task_began_and_ended(app: App) -> None:
    app.run(app.chain(quick), {"amount": 1})
    (row,) = app.store.runs(THREAD)
    assert row.started_at <= row.ended_at
    assert row.ended_at >= app.clock.now()
