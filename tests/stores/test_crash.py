"""A store that crashes does so at the write that it was told, and nothing goes on after that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from caesura.errors import StaleHead
from caesura.ports import Append, Store
from caesura.stores.memory import MemoryStore
from caesura.stores.sqlite import SqliteStore
from caesura.testing import Crash, CrashAfter
from caesura.testing.contract.words import Outcomes, begin, row, snapshot


@pytest.fixture(params=["memory", "sqlite"])
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store: MemoryStore | SqliteStore
    with MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "a.db") as store:
        yield store


def appends(store: Store, *, until: int = 10) -> None:
    """Ten writes, one event each."""
    epoch = begin(store)
    for head in range(1, until):
        store.append(Append("t", head, 1, b"x", epoch=epoch))


@pytest.mark.parametrize("n", range(10))
@pytest.mark.parametrize("written", [False, True])
def test_so_many_writes_go_through(real: Store, n: int, written: bool) -> None:
    store = CrashAfter(real, n, written=written)
    with pytest.raises(Crash):
        appends(store)
    assert real.head("t") == store.writes == n + written


def test_with_as_many_writes_as_there_are_nothing_happens(real: Store) -> None:
    store = CrashAfter(real, 10)
    appends(store)
    assert (store.writes, store.has_crashed) == (10, False)


def test_a_crash_is_not_caught_as_an_error(real: Store) -> None:
    def careless() -> None:
        try:
            begin(CrashAfter(real, 0))
        except Exception:
            pytest.fail("an `except Exception` survived the death of its process")

    with pytest.raises(Crash):
        careless()


def test_reads_and_comparisons_do_not_count(real: Store) -> None:
    store = CrashAfter(real, 1)
    epoch = begin(store)
    for _ in range(3):
        store.head("t")
        store.load("t")
        store.questions()
        store.renew("t", epoch, 1_000_000)
        store.append(Append("t", 1, 0, b"", epoch=epoch))
        store.sync()
    assert store.writes == 1
    with pytest.raises(Crash):
        store.append(Append("t", 1, 0, b"", epoch=epoch, row=row()))


def test_every_kind_of_write_counts(real: Store) -> None:
    store, told = CrashAfter(real), Outcomes()
    epoch = begin(store, snapshot=snapshot(1))
    store.append_soon(Append("t", 1, 1, b"x", epoch=epoch), 1, told)
    told.of(1)
    store.prune("t", upto=1)
    store.replace_rows("t", expected_head=2, row=row(), questions=[], runs=[])
    with pytest.raises(StaleHead):
        store.append(Append("t", 9, 1, b"x", epoch=epoch))
    store.delete_thread("t")
    assert store.writes == 6


def test_after_the_crash_every_call_crashes(real: Store) -> None:
    store = CrashAfter(real, 1)
    epoch = begin(store)
    with pytest.raises(Crash):
        store.append(Append("t", 1, 1, b"x", epoch=epoch))
    for call in (
        lambda: store.head("t"),
        lambda: store.load("t"),
        lambda: store.append(Append("t", 1, 1, b"x", epoch=epoch)),
        lambda: store.append_soon(Append("t", 1, 1, b"x", epoch=epoch), 1, Outcomes()),
        lambda: store.append(Append("t", 1, 0, b"")),
        lambda: store.renew("t", epoch, 1),
        lambda: store.sync(),
        lambda: store.next_due(),
    ):
        with pytest.raises(Crash, match="write 2"):
            call()
    assert real.head("t") == 1


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("written", [False, True])
def test_what_was_given_soon_and_went_through_is_there_after_the_crash(
    real: Store, n: int, written: bool
) -> None:
    store, told = CrashAfter(real, n, written=written), Outcomes()
    epoch = begin(store)

    def nine_more() -> None:
        for head in range(1, 10):
            store.append_soon(Append("t", head, 1, b"x", epoch=epoch), head, told)

    with pytest.raises(Crash):
        nine_more()
    assert real.head("t") == n + written


def test_a_dead_process_hears_of_nothing(real: Store) -> None:
    store = CrashAfter(real, 1, written=True)
    epoch = begin(store)

    class Listening:
        def landed(self, outcomes: object) -> None:
            pytest.fail("it was told of an append after its death")

    with pytest.raises(Crash):
        store.append_soon(Append("t", 1, 1, b"x", epoch=epoch), 1, Listening())
    assert real.head("t") == 2


def test_a_dead_process_closes_nothing(real: Store) -> None:
    with pytest.raises(Crash), CrashAfter(real, 0) as store:
        begin(store)
    assert real.head("t") == 0
