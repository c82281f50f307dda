"""The store under test, and the words in which the contract arranges what it needs.

Called by the parts of the contract.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from caesura.ports import Append, QuestionRow, QuestionStatus, Snapshot, Store, Take, ThreadRow
from caesura.testing.clock import ManualClock

MAX_BYTES = 10_000
TTL_S = 30
PATIENCE_S = 20.0  # only a store that is broken lets a test wait for so long

T = TypeVar("T")


class Part:
    """What all parts of the contract share."""

    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        """A new, empty store. `folder` is empty too, and the test's own."""
        raise NotImplementedError("say how your store is made: def make_store(self, folder, ...)")

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def store(self, tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
        store = self.make_store(tmp_path, clock=clock, max_bytes=MAX_BYTES)
        yield store
        store.close()


def take(owner: str = "ana", *, evict: str | None = None) -> Take:
    return Take(owner, TTL_S * 1_000_000, evict)


def begin(store: Store, thread: str = "t", *, owner: str = "ana", **more: Any) -> int:
    """A thread with one event, held by `owner`; its epoch."""
    return store.append(Append(thread, 0, 1, b"began", lease=take(owner), **more))


def snapshot(seq: int, *, step: int | None = None, body: bytes = b"") -> Snapshot:
    return Snapshot(seq, seq if step is None else step, body or b"as of %d" % seq)


def row(status: Any = "running", *, graph: str = "g", due: int | None = None) -> ThreadRow:
    return ThreadRow(graph=graph, status=status, updated_at=7, due=due)


def question(
    name: str,
    *,
    status: QuestionStatus = "open",
    at: int = 1,
    due: int | None = None,
    columns: dict[str, Any] | None = None,
    body: bytes = b"may I?",
) -> QuestionRow:
    return QuestionRow(name, status, at, due, body, columns or {})


def names(found: Sequence[Any]) -> list[str]:
    """Of questions or threads that a list showed."""
    return [entry.row.id if hasattr(entry.row, "id") else entry.thread for entry in found]


class Outcomes:
    """A sink that remembers."""

    def __init__(self) -> None:
        self._told: list[tuple[Any, int | BaseException]] = []
        self._change = threading.Condition()

    def landed(self, outcomes: Sequence[tuple[Any, int | BaseException]]) -> None:
        with self._change:
            self._told += outcomes
            self._change.notify_all()

    def of(self, count: int) -> list[tuple[Any, int | BaseException]]:
        """The first `count` outcomes, once they are there."""
        with self._change:
            assert self._change.wait_for(lambda: len(self._told) >= count, PATIENCE_S), self._told
            return self._told[:count]


def at_once(acts: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Each in a thread of its own, all starting together; what each returned or raised."""
    start = threading.Barrier(len(acts))
    outcomes: dict[int, T | Exception] = {}

    def work(place: int, act: Callable[[], T]) -> None:
        start.wait(PATIENCE_S)
        try:
            outcomes[place] = act()
        except Exception as error:  # noqa: BLE001 - it is what the test looks at
            outcomes[place] = error

    threads = [threading.Thread(target=work, args=(n, act)) for n, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "a call never returned"
    return [outcomes[place] for place in range(len(acts))]
