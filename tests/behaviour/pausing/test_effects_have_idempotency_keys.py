"""`once.key()` names an effect to the outside: the same after a crash, another on a rerun."""

from __future__ import annotations

import pytest

from caesura import END, START, RetryPolicy, Send, StateGraph, interrupt, once
from caesura.errors import OutsideANode
from tests.behaviour.both import Story


class Bank:
    """Writes down the idempotency key of every request that reaches it."""

    def __init__(self, failures: int = 0) -> None:
        self.keys: list[str] = []
        self.failures = failures

    def charge(self, amount: int) -> str:
        self.keys.append(once.key())
        if len(self.keys) <= self.failures:
            raise ConnectionError("the line went dead")
        return "charged"


def test_two_uses_of_one_effect_have_different_keys(app):
    bank = Bank()

    def buy(state):
        once(bank.charge, 5)
        once(bank.charge, 5)

    app.run(app.chain(buy), {})

    assert len(set(bank.keys)) == 2


def test_two_threads_have_different_keys(app):
    bank = Bank()

    def buy(state):
        once(bank.charge, 5)

    graph = app.chain(buy)
    app.run(graph, {}, thread="one")
    app.run(graph, {}, thread="two")

    assert len(set(bank.keys)) == 2


def test_two_tasks_of_one_step_have_different_keys(app):
    bank = Bank()

    def buy(amount):
        once(bank.charge, 5)

    builder = StateGraph(Story).add_node(buy)
    builder.add_conditional_edges(START, lambda state: [Send("buy", 1), Send("buy", 2)])
    app.run(app.compile(builder), {})

    assert len(set(bank.keys)) == 2


def test_two_runs_of_a_node_have_different_keys(app):
    bank = Bank()

    def buy(state):
        once(bank.charge, 5)

    graph = app.chain(buy)
    app.run(graph, {})
    app.run(graph, {})

    assert len(set(bank.keys)) == 2


def test_every_attempt_of_an_effect_has_the_same_key(app):
    bank = Bank(failures=2)
    policy = RetryPolicy(
        max_attempts=3, initial_interval=0.001, jitter=False, retry_on=ConnectionError
    )

    def buy(state):
        once(bank.charge, 5, retry_policy=policy)

    app.run(app.chain(buy), {})

    assert len(bank.keys) == 3
    assert len(set(bank.keys)) == 1


def test_a_retry_of_a_failed_thread_has_the_same_key(app):
    bank = Bank(failures=1)

    def buy(state):
        once(bank.charge, 5)

    graph = app.chain(buy)
    with pytest.raises(ConnectionError):
        app.run(graph, {})
    app.go_on(graph)

    assert len(bank.keys) == 2
    assert len(set(bank.keys)) == 1


def test_going_back_and_running_on_purpose_has_another_key(app):
    bank = Bank()

    def buy(state):
        once(bank.charge, 5)

    graph = app.chain(buy)
    app.run(graph, {})
    before_buying = next(entry for entry in app.history(graph) if entry.next == ("buy",))
    app.run(graph, None, config=before_buying.config)

    assert len(bank.keys) == 2
    assert len(set(bank.keys)) == 2


def test_an_answer_between_two_effects_does_not_change_what_the_first_was_called(app):
    bank = Bank()

    def buy(state):
        once(bank.charge, 5)
        interrupt("another?")
        once(bank.charge, 5)

    graph = app.chain(buy)
    app.run(graph, {})
    app.answer(graph, "yes")

    assert len(bank.keys) == 2
    assert len(set(bank.keys)) == 2


def test_an_async_effect_can_ask_for_its_key(app):
    keys = []

    async def charge(amount):
        keys.append(once.key())

    async def buy(state):
        await once(charge, 5)

    app.run(app.chain(buy), {})

    assert len(keys) == 1
    assert isinstance(keys[0], str)


def test_there_is_no_key_outside_of_an_effect(app):
    with pytest.raises(OutsideANode):
        once.key()


def test_an_effect_that_died_before_its_record_runs_again_with_the_same_key(app):
    bank = Bank()

    def buy(state):
        once(bank.charge, 5)

    builder = StateGraph(Story).add_node(buy).add_edge(START, "buy").add_edge("buy", END)
    died_after_charging = 0
    for writes in range(12):
        bank.keys.clear()
        thread = f"dies after {writes} writes"
        a_crash_after(writes, app, builder, thread)
        charged_before = len(bank.keys)
        if charged_before == 0 or app.state(app.compile(builder), thread=thread).next == ():
            continue
        app.go_on(app.compile(builder), thread=thread)
        died_after_charging += len(bank.keys) == 2
        assert len(set(bank.keys)) == 1

    assert died_after_charging == 1


def a_crash_after(writes, app, builder, thread):
    """Run the graph in a process that dies after so many writes to its store."""
    from caesura.testing import Crash, CrashAfter

    graph = app.compile(builder, checkpointer=CrashAfter(app.store, writes))
    try:
        app.run(graph, {}, thread=thread)
    except Crash:
        pass
