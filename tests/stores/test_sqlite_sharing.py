"""Threads share transactions, processes share the file, and one bad append harms nobody else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from caesura.errors import StaleHead, StoreUnavailable
from caesura.ports import Append, Record
from caesura.stores.sqlite import SqliteStore
from caesura.testing.contract.words import Outcomes, at_once, begin, question
from tests.stores.observing import Connections, finish, run, start, transactions


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.db"


# ------------------------------------------------------------------------------------ one process
def test_appends_given_soon_share_a_transaction(database: Path) -> None:
    with SqliteStore(database) as store, closing(sqlite3.connect(database)) as other:
        epoch, told = begin(store), Outcomes()
        before = transactions(database)
        other.execute("begin immediate")  # so that they pile up
        for head in range(1, 101):
            store.append_soon(Append("t", head, 1, b"x", epoch=epoch), head, told)
        other.rollback()
        told.of(100)
        # The first may have been on its way alone.
        assert transactions(database) - before <= 2


def test_threads_that_append_at_once_share_transactions(database: Path) -> None:
    threads = 16
    with SqliteStore(database) as store:
        epochs = [begin(store, f"t{n}") for n in range(threads)]
        before = transactions(database)
        for head in range(1, 11):
            at_once(
                [
                    partial(store.append, Append(f"t{n}", head, 1, b"x", epoch=epoch))
                    for n, epoch in enumerate(epochs)
                ]
            )
        assert [store.head(f"t{n}") for n in range(threads)] == [11] * threads
        assert transactions(database) - before < threads * 10


def test_a_single_thread_has_a_transaction_for_each_append(database: Path) -> None:
    with SqliteStore(database) as store:
        epoch = begin(store)
        before = transactions(database)
        for head in range(1, 11):
            store.append(Append("t", head, 1, b"x", epoch=epoch))
        assert transactions(database) - before == 10


def test_an_append_that_fails_in_the_middle_leaves_nothing_and_harms_nobody(
    database: Path,
) -> None:
    with SqliteStore(database) as store, closing(sqlite3.connect(database)) as other:
        epochs = [begin(store, f"t{n}") for n in range(5)]
        told = Outcomes()
        other.execute("begin immediate")
        for n, epoch in enumerate(epochs):
            asked = [question("fine"), question("wrong", at=1 << 70)] if n == 2 else []
            append = Append(f"t{n}", 1, 1, b"x", epoch=epoch, questions=asked)
            store.append_soon(append, n, told)
        other.rollback()
        outcomes = dict(told.of(5))
        assert isinstance(outcomes.pop(2), OverflowError)
        assert outcomes == {n: epochs[n] for n in (0, 1, 3, 4)}
        assert [store.head(f"t{n}") for n in range(5)] == [2, 2, 1, 2, 2]
        assert store.questions() == []


def test_a_full_disk_is_told_and_what_fits_again_goes_through(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections = Connections(monkeypatch)
    with SqliteStore(database) as store:
        epoch, told = begin(store), Outcomes()
        writer = connections.opened[0]
        (pages,) = writer.execute("pragma page_count").fetchone()
        writer.execute(f"pragma max_page_count = {pages + 2}")
        large = Append("t", 1, 1, b"x" * 100_000, epoch=epoch)
        with pytest.raises(StoreUnavailable, match="free space"):
            store.append(large)
        store.append_soon(large, "large", told)
        store.append_soon(Append("t", 1, 1, b"small", epoch=epoch), "small", told)
        (_, refused), small = told.of(2)
        assert isinstance(refused, StoreUnavailable)
        assert small == ("small", epoch)
        assert store.read("t", 1) == [Record(2, b"small")]
        writer.execute("pragma max_page_count = 100000")
        store.append(Append("t", 2, 1, b"x" * 100_000, epoch=epoch))


def test_readers_do_not_wait_for_a_writer(database: Path) -> None:
    with SqliteStore(database) as store, closing(sqlite3.connect(database)) as other:
        begin(store)
        other.execute("begin immediate")
        assert store.head("t") == 1
        assert store.load("t") is not None
        other.rollback()


def test_a_file_that_stays_locked_is_an_error_that_says_so(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caesura.stores.sqlite_file.PATIENCE_S", 0.0)
    with SqliteStore(database) as store, closing(sqlite3.connect(database)) as other:
        epoch = begin(store)
        other.execute("begin immediate")
        for append in (Append("t", 1, 1, b"x", epoch=epoch), Append("u", 0, 1, b"x")):
            with pytest.raises(StoreUnavailable, match="locked by another process"):
                store.append(append)
        other.rollback()
        store.append(Append("t", 1, 1, b"x", epoch=epoch))


# -------------------------------------------------------------------------------- many processes
APPENDS = """
import sys
from caesura.errors import StaleHead
from caesura.ports import Append
from caesura.stores.sqlite import SqliteStore

who, count = sys.argv[2], int(sys.argv[3])
sys.stdin.readline()  # all start together, before there is a file
with SqliteStore(sys.argv[1]) as store:
    for n in range(count):
        store.append(Append(who, n, 1, b"own"))
        while True:
            try:
                store.append(Append("common", store.head("common"), 1, f"{who}.{n}".encode()))
                break
            except StaleHead:
                pass
"""


@pytest.mark.process
def test_processes_append_to_one_file_and_none_loses_anything(database: Path) -> None:
    who, count = ["ana", "bo", "cleo"], 30
    processes = [start(APPENDS, database, name, count) for name in who]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        finish(process)
    with SqliteStore(database) as store:
        assert [store.head(name) for name in who] == [count] * 3
        bodies = [record.body.decode() for record in store.read("common")]
    assert sorted(bodies) == sorted(f"{name}.{n}" for name in who for n in range(count))
    for name in who:
        assert [body for body in bodies if body.startswith(name)] == [
            f"{name}.{n}" for n in range(count)
        ]


TAKES_OVER = """
import sys
from caesura.ports import Append, Take
from caesura.stores.sqlite import SqliteStore

with SqliteStore(sys.argv[1]) as store:
    store.append(Append("t", 2, 1, b"taken", lease=Take("other", 10**9, evict="ana")))
    store.delete_thread("gone")
"""


@pytest.mark.process
def test_what_another_process_did_is_seen_by_the_next_append(database: Path) -> None:
    with SqliteStore(database) as store:
        epoch, gone = begin(store), begin(store, "gone")
        store.append(Append("t", 1, 1, b"mine", epoch=epoch))
        run(TAKES_OVER, database)
        with pytest.raises(Exception, match="taken over thread 't'"):
            store.append(Append("t", 3, 1, b"lost", epoch=epoch))
        with pytest.raises(Exception, match="taken over thread 'gone'"):
            store.append(Append("gone", 1, 1, b"lost", epoch=gone))
        with pytest.raises(StaleHead):
            store.append(Append("gone", 1, 1, b"lost"))
        assert begin(store, "gone") > gone
