"""What a program's logs say of its threads, and by which ids they can be searched."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from caesura import START, RetryPolicy, StateGraph, interrupt
from tests.behaviour.both import THREAD, App, Story


def quick(state: Story) -> dict[str, Any]:
    return {"notes": ["quick"]}


def ask(state: Story) -> dict[str, Any]:
    return {"notes": [interrupt("sure?", key="verdict")]}


def records(caplog: pytest.LogCaptureFixture, word: str) -> list[logging.LogRecord]:
    return [r for r in caplog.records if r.name == "caesura" and word in r.getMessage()]


def test_a_task_that_waits_is_told_with_its_question(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "caesura")
    graph = app.chain(ask)
    app.run(graph, {"amount": 1})
    (record,) = records(caplog, "waits")
    assert "'ask'" in record.getMessage()
    assert "verdict" in record.getMessage()
    assert record.caesura_thread == THREAD  # type: ignore[attr-defined]
    assert record.caesura_task == app.state(graph).tasks[0].id  # type: ignore[attr-defined]


def test_a_failure_is_told_with_its_node(app: App, caplog: pytest.LogCaptureFixture) -> None:
    def fail(state: Story) -> None:
        raise ValueError("out of stock")

    caplog.set_level(logging.INFO, "caesura")
    with pytest.raises(ValueError, match="out of stock"):
        app.run(app.chain(fail), {"amount": 1})
    (record,) = records(caplog, "failed")
    assert "'fail'" in record.getMessage()
    assert "out of stock" in record.getMessage()


def test_an_attempt_that_is_made_again_is_told(app: App, caplog: pytest.LogCaptureFixture) -> None:
    attempts: list[int] = []

    def shaky(state: Story) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("line is busy")

    caplog.set_level(logging.INFO, "caesura")
    policy = RetryPolicy(initial_interval=0.001, jitter=False)
    builder = StateGraph(Story).add_node(shaky, retry_policy=policy).add_edge(START, "shaky")
    app.run(app.compile(builder), {"amount": 1})
    assert len(records(caplog, "tried again")) == 1


def test_steps_are_told_to_whoever_wants_to_know_it_all(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "caesura")
    app.run(app.chain(quick, ask), {"amount": 1})
    assert [r.caesura_step for r in records(caplog, "next is 'ask'")] == [2]  # type: ignore[attr-defined]


def test_nothing_that_was_asked_or_answered_is_told(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "caesura")

    def ask_a_secret(state: Story) -> dict[str, Any]:
        return {"notes": [interrupt({"password of": "ana"})]}

    graph = app.chain(ask_a_secret)
    app.run(graph, {"amount": 1})
    app.answer(graph, "hunter2")
    said = " ".join(record.getMessage() for record in caplog.records)
    assert "password" not in said
    assert "hunter2" not in said
