"""A log from which something is missing is refused as damaged, whoever reads it."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from msgspec.structs import replace

from caesura.core.events import Asked, Done, Stepped
from caesura.engine.codec import Codec
from caesura.engine.registry import Registry
from caesura.errors import CorruptRecord
from tests.behaviour.state.words import asking, saying

CODEC = Codec(Registry())
PRICES = {"tea": 2}


def add_price(total: int, item: Any) -> int:
    return total + PRICES[item]


class Bill(TypedDict, total=False):
    total: Annotated[int, add_price]


class Holed:
    """A store that has lost records, or in whose records every event is about another run."""

    def __init__(self, store: Any, *, lost: int | None = None, run: int | None = None) -> None:
        self._store, self._lost, self._run = store, lost, run

    def load(self, thread: str) -> Any:
        loaded = self._store.load(thread)
        return replace(loaded, records=self._left(loaded.records))

    def read(self, thread: str, after: int = 0) -> Any:
        return self._left(self._store.read(thread, after))

    def _left(self, records: Any) -> list[Any]:
        left = [record for place, record in enumerate(records) if place != self._lost]
        return left if self._run is None else [self._altered(record) for record in left]

    def _altered(self, record: Any) -> Any:
        at, events = CODEC.decode(record.body)
        for event in events:
            if isinstance(event, Stepped):
                event.run = self._run
            if isinstance(event, Done | Asked):
                event.step = 99
        return record._replace(body=CODEC.encode(at, events))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def nodes():
    return saying("draft"), asking("good?"), saying("ship")


@pytest.mark.parametrize("lost", [0, 1])
def test_a_missing_record_is_named_with_what_to_do(app, waiting, nodes, lost):
    holed = app.chain(*nodes, checkpointer=Holed(app.store, lost=lost))
    for look in (app.state, app.go_on, lambda graph: app.answer(graph, "yes")):
        with pytest.raises(CorruptRecord, match=r"before record \d+ of thread 't' is missing"):
            look(holed)


def test_a_thread_that_was_damaged_is_left_as_it_is(app, waiting, nodes):
    holed = app.chain(*nodes, checkpointer=Holed(app.store, lost=0))
    with pytest.raises(CorruptRecord):
        app.answer(holed, "yes")
    assert app.answer(waiting, "yes")["notes"] == ["draft", "good? yes", "ship"]


def test_a_record_about_a_run_that_never_was_is_refused(app, waiting, nodes):
    holed = app.chain(*nodes, checkpointer=Holed(app.store, run=99))
    for look in (app.state, app.history, app.go_on):
        with pytest.raises(CorruptRecord, match=r"Record \d+ of thread 't'.*backup"):
            look(holed)


def test_a_past_that_was_damaged_behind_a_reader_s_back_is_refused(app, waiting, nodes):
    app.answer(waiting, "yes")
    holed = Holed(app.store)
    graph = app.chain(*nodes, checkpointer=holed)
    holed.read = Holed(app.store, run=99).read
    with pytest.raises(CorruptRecord, match="thread 't'"):
        app.history(graph)


def test_a_reducer_that_looks_in_vain_is_no_damage(app, monkeypatch):
    def order(state):
        return {"total": "tea"}

    graph = app.chain(order, state=Bill)
    app.run(graph, {})
    monkeypatch.delitem(PRICES, "tea")
    with pytest.raises(KeyError, match="tea"):
        app.state(graph)
