"""A store says what it is, works as a context manager, and refuses everything once it is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from caesura.errors import StoreClosed
from caesura.ports import Append, Store
from caesura.testing.clock import ManualClock
from caesura.testing.contract.words import MAX_BYTES, Outcomes, Part, begin, row

_CALLS: dict[str, Callable[[Any], Any]] = {
    "append": lambda store: begin(store, "new"),
    "append_soon": lambda store: store.append_soon(Append("t", 1, 1, b"x"), 1, Outcomes()),
    "sync": lambda store: store.sync(),
    "load": lambda store: store.load("t"),
    "read": lambda store: store.read("t"),
    "snapshot_before": lambda store: store.snapshot_before("t", step=1),
    "head": lambda store: store.head("t"),
    "renew": lambda store: store.renew("t", 1, 1),
    "question": lambda store: store.question("q"),
    "questions": lambda store: store.questions(),
    "threads": lambda store: store.threads(),
    "next_due": lambda store: store.next_due(),
    "runs": lambda store: store.runs("t"),
    "delete_thread": lambda store: store.delete_thread("t"),
    "prune": lambda store: store.prune("t", upto=1),
    "replace_rows": lambda store: store.replace_rows(
        "t", expected_head=1, row=row(), questions=[], runs=[]
    ),
}


class LifetimesContract(Part):
    def test_a_store_says_what_the_engine_asks_of_it(
        self, store: Store, clock: ManualClock
    ) -> None:
        assert store.clock is clock
        assert isinstance(store.shared, bool)
        assert isinstance(store.instant, bool)
        assert 0 < store.max_bytes <= MAX_BYTES
        assert store.ids.new() != store.ids.new()
        assert 0 <= store.ids.chance() < 1
        assert store.host.is_alive(store.host.identity()) is True

    def test_a_new_store_is_empty(self, store: Store) -> None:
        assert store.threads() == []
        assert store.questions() == []
        assert store.next_due() is None

    @pytest.mark.parametrize("call", sorted(_CALLS))
    def test_a_closed_store_refuses_every_call(self, store: Store, call: str) -> None:
        begin(store)
        store.close()
        with pytest.raises(StoreClosed, match="closed"):
            _CALLS[call](store)

    def test_closing_twice_is_closing_once(self, store: Store) -> None:
        begin(store)
        store.close()
        store.close()

    def test_a_store_is_closed_by_leaving_its_with_block(
        self, tmp_path: Path, clock: ManualClock
    ) -> None:
        store: Any = self.make_store(tmp_path, clock=clock, max_bytes=MAX_BYTES)
        with store as entered:
            assert entered is store
            begin(entered)
        with pytest.raises(StoreClosed):
            store.head("t")

    def test_closing_writes_what_was_given_soon(self, store: Store) -> None:
        epoch, told = begin(store), Outcomes()
        for head in range(1, 100):
            store.append_soon(Append("t", head, 1, b"soon", epoch=epoch), head, told)
        store.close()
        assert told.of(99) == [(head, epoch) for head in range(1, 100)]

    def test_a_store_made_in_one_thread_can_be_used_in_another(self, store: Store) -> None:
        epochs: list[int] = []
        for _ in range(2):
            thread = threading.Thread(target=lambda: epochs.append(begin(store, f"t{len(epochs)}")))
            thread.start()
            thread.join()
        assert (store.head("t0"), store.head("t1"), len(epochs)) == (1, 1, 2)
