"""What becomes of an effect that fails: recorded, raised again on replay, forgotten by a retry."""

from __future__ import annotations

import pytest

from caesura import START, RetryPolicy, StateGraph, interrupt, once, task, workflow
from caesura.errors import RecordedError
from tests.behaviour.both import Story


class Terminal:
    """A card terminal that declines as often as it is told to."""

    def __init__(self, declines: int, error: type[Exception] = ValueError) -> None:
        self.declines, self.error, self.tries = declines, error, 0

    def charge(self, amount: int) -> str:
        self.tries += 1
        if self.tries <= self.declines:
            raise self.error("card declined")
        return f"charged {amount}"


class CardDeclined(Exception):
    """An error that only this program knows."""


class OverLimit(CardDeclined):
    """One that carries a number, and that most code knows by its base only."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"over the limit of {limit}")
        self.limit = limit


def refuse(amount):
    raise OverLimit(amount - 1)


async def refuse_slowly(amount):
    raise OverLimit(amount - 1)


def at_once(attempts: int, error: type[Exception]) -> RetryPolicy:
    return RetryPolicy(
        max_attempts=attempts,
        retry_on=error,
        initial_interval=0.001,
        max_interval=0.001,
        jitter=False,
    )


def test_a_failure_is_not_performed_again_on_replay(app):
    terminal = Terminal(declines=1)

    def buy(state):
        try:
            once(terminal.charge, 5)
        except ValueError as declined:
            return {"notes": [str(declined), interrupt("what now?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "cash")

    assert result["notes"] == ["card declined", "cash"]
    assert terminal.tries == 1


def test_a_failure_of_an_own_type_is_raised_again_and_named(app):
    terminal = Terminal(declines=1, error=CardDeclined)
    seen = []

    def buy(state):
        try:
            once(terminal.charge, 5)
        except Exception as declined:
            seen.append(declined)
            interrupt("what now?")

    graph = app.chain(buy)
    app.run(graph, {})
    app.answer(graph, "cash")

    assert type(seen[0]) is CardDeclined
    assert "card declined" in str(seen[1])
    assert terminal.tries == 1


def test_code_that_tells_failures_apart_takes_the_same_way_on_replay(app, till):
    def buy(state):
        try:
            once(refuse, 5)
        except OverLimit as refused:
            paid = once(till.charge, refused.limit)
            return {"notes": [paid, interrupt("fine?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    app.restart()
    result = app.answer(app.chain(buy), "yes")

    assert result["notes"] == ["receipt 1", "yes"]
    assert till.charged == [4]


def test_a_failure_that_only_its_base_is_named_of_is_caught_on_replay(app, till):
    async def buy(state):
        try:
            await once(refuse_slowly, 5)
        except CardDeclined as refused:
            return {"notes": [str(refused), interrupt("fine?")]}

    graph = app.chain(buy)
    app.run(graph, {})

    assert app.answer(graph, "yes")["notes"] == ["over the limit of 4", "yes"]


def test_a_failure_of_a_task_takes_the_same_way_on_replay(app):
    charge = task(refuse)

    @workflow(checkpointer=app.store, name="story")
    def buy(amount):
        try:
            charge(amount).result()
        except OverLimit as refused:
            return [refused.limit, interrupt("fine?")]

    app.run(buy, 5)

    assert app.answer(buy, "yes") == [4, "yes"]


def test_an_edge_that_tells_failures_apart_takes_the_same_way_on_replay(app):
    def buy(state):
        return {}

    def choose(state):
        try:
            once(refuse, 5)
        except OverLimit as refused:
            interrupt("fine?")
            return f"cash_{refused.limit}"

    def cash_4(state):
        return {"notes": ["paid in cash"]}

    builder = StateGraph(Story).add_node(buy).add_node(cash_4).add_edge(START, "buy")
    graph = app.compile(builder.add_conditional_edges("buy", choose, ["cash_4"]))
    app.run(graph, {})

    assert app.answer(graph, "yes")["notes"] == ["paid in cash"]


def test_a_failure_that_no_code_of_the_graph_mentions_is_raised_again_with_its_name(app):
    def charge(amount):
        raise type("Hidden", (Exception,), {})("declined")

    seen = []

    def buy(state):
        try:
            once(charge, 5)
        except Exception as declined:
            seen.append(declined)
            interrupt("what now?")

    graph = app.chain(buy)
    app.run(graph, {})
    app.answer(graph, "cash")

    assert type(seen[1]) is RecordedError
    assert seen[1].type_name.endswith("Hidden")


def test_a_failure_that_leaves_the_node_is_raised_as_itself(app):
    terminal = Terminal(declines=1, error=CardDeclined)

    def buy(state):
        once(terminal.charge, 5)

    with pytest.raises(CardDeclined, match="card declined"):
        app.run(app.chain(buy), {})


def test_a_retry_of_a_failed_thread_tries_the_effect_again(app):
    terminal = Terminal(declines=1)

    def buy(state):
        return {"notes": [once(terminal.charge, 5)]}

    graph = app.chain(buy)
    with pytest.raises(ValueError, match="declined"):
        app.run(graph, {})
    result = app.go_on(graph)

    assert result["notes"] == ["charged 5"]
    assert terminal.tries == 2


def test_a_retry_of_a_failed_thread_keeps_what_succeeded(app, till):
    terminal = Terminal(declines=1)

    def buy(state):
        return {"notes": [once(till.charge, 1), once(terminal.charge, 5)]}

    graph = app.chain(buy)
    with pytest.raises(ValueError, match="declined"):
        app.run(graph, {})
    result = app.go_on(graph)

    assert result["notes"] == ["receipt 1", "charged 5"]
    assert till.charged == [1]


def test_a_retry_of_the_node_by_its_policy_tries_the_effect_again(app):
    terminal = Terminal(declines=1, error=ConnectionError)

    def buy(state):
        return {"notes": [once(terminal.charge, 5)]}

    graph = app.compile(a_graph_that_retries(buy, at_once(2, ConnectionError)))

    assert app.run(graph, {})["notes"] == ["charged 5"]
    assert terminal.tries == 2


def test_a_retry_of_the_node_by_its_policy_keeps_what_succeeded(app, till):
    terminal = Terminal(declines=1, error=ConnectionError)

    def buy(state):
        return {"notes": [once(till.charge, 1), once(terminal.charge, 5)]}

    app.run(app.compile(a_graph_that_retries(buy, at_once(2, ConnectionError))), {})

    assert till.charged == [1]


def test_an_effect_is_tried_as_often_as_its_own_policy_says(app):
    terminal = Terminal(declines=2, error=ConnectionError)

    def buy(state):
        charged = once(terminal.charge, 5, retry_policy=at_once(3, ConnectionError))
        return {"notes": [charged]}

    assert app.run(app.chain(buy), {})["notes"] == ["charged 5"]
    assert terminal.tries == 3


def test_an_effect_that_fails_to_the_end_of_its_policy_is_not_tried_again_on_replay(app):
    terminal = Terminal(declines=99, error=ConnectionError)

    def buy(state):
        try:
            once(terminal.charge, 5, retry_policy=at_once(3, ConnectionError))
        except ConnectionError:
            interrupt("what now?")

    graph = app.chain(buy)
    app.run(graph, {})
    app.answer(graph, "cash")

    assert terminal.tries == 3


def test_an_error_that_the_policy_does_not_name_is_not_tried_again(app):
    terminal = Terminal(declines=99, error=ValueError)

    def buy(state):
        once(terminal.charge, 5, retry_policy=at_once(3, ConnectionError))

    with pytest.raises(ValueError, match="declined"):
        app.run(app.chain(buy), {})
    assert terminal.tries == 1


def test_an_async_effect_is_tried_as_often_as_its_own_policy_says(app):
    terminal = Terminal(declines=2, error=ConnectionError)

    async def charge(amount):
        return terminal.charge(amount)

    async def buy(state):
        charged = await once(charge, 5, retry_policy=at_once(3, ConnectionError))
        return {"notes": [charged]}

    assert app.run(app.chain(buy), {})["notes"] == ["charged 5"]
    assert terminal.tries == 3


def a_graph_that_retries(node, policy):
    from caesura import END, START, StateGraph
    from tests.behaviour.both import Story

    builder = StateGraph(Story).add_node(node, retry_policy=policy)
    return builder.add_edge(START, node.__name__).add_edge(node.__name__, END)
