"""What `append` returned from is on the disk; what may be lost is lost with the machine only."""

from __future__ import annotations

import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from caesura.errors import StoreMisconfigured
from caesura.ports import Append
from caesura.stores.sqlite import SqliteStore
from caesura.testing.contract.words import Outcomes, begin, row
from tests.stores.observing import Connections, start, transactions


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Connections:
    return Connections(monkeypatch)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.db"


def test_every_append_waits_for_the_disk(database: Path, connections: Connections) -> None:
    with SqliteStore(database) as store:
        epoch = begin(store)
        assert connections.waits_for_the_disk()
        store.append(Append("t", 1, 1, b"plain", epoch=epoch))
        assert connections.waits_for_the_disk()
        store.append(Append("t", 2, 1, b"with a row", epoch=epoch, row=row()))
        assert connections.waits_for_the_disk()


def test_a_relaxed_append_does_not_wait_and_the_next_one_does(
    database: Path, connections: Connections
) -> None:
    with SqliteStore(database) as store:
        epoch = begin(store)
        store.append(Append("t", 1, 1, b"relaxed", epoch=epoch, durable=False))
        assert not connections.waits_for_the_disk()
        store.append(Append("t", 2, 1, b"durable", epoch=epoch))
        assert connections.waits_for_the_disk()


def test_a_batch_waits_for_the_disk_when_one_of_it_must(
    database: Path, connections: Connections
) -> None:
    with SqliteStore(database) as store:
        epoch, told = begin(store), Outcomes()
        with _locked(connections, database):
            for head in range(1, 20):
                append = Append("t", head, 1, b"x", epoch=epoch, durable=head == 19)
                store.append_soon(append, head, told)
        told.of(19)
        assert connections.waits_for_the_disk()


@pytest.mark.parametrize("synchronous", ["full", "normal"])
def test_syncing_commits_once_more_and_waits_for_the_disk(
    database: Path, connections: Connections, synchronous: Any
) -> None:
    with SqliteStore(database, synchronous=synchronous) as store:
        epoch = begin(store)
        store.append(Append("t", 1, 1, b"relaxed", epoch=epoch, durable=False))
        before = transactions(database)
        store.sync()
        assert connections.waits_for_the_disk()
        assert transactions(database) == before + 1
        store.sync()
        assert transactions(database) == before + 1  # nothing was left to be done


def test_a_refused_append_does_not_pass_for_a_sync(
    database: Path, connections: Connections
) -> None:
    with SqliteStore(database) as store:
        epoch = begin(store)
        store.append(Append("t", 1, 1, b"relaxed", epoch=epoch, durable=False))
        for after in (1, 7):
            with pytest.raises(Exception, match="is at 2"):
                store.append(Append("t", after, 1, b"lost", epoch=epoch))
        before = transactions(database)
        store.sync()
        assert transactions(database) == before + 1


def test_a_store_that_was_told_so_never_waits_for_the_disk(
    database: Path, connections: Connections
) -> None:
    with SqliteStore(database, synchronous="normal") as store:
        epoch = begin(store)
        assert not connections.waits_for_the_disk()
        store.append(Append("t", 1, 1, b"plain", epoch=epoch))
        assert not connections.waits_for_the_disk()


def test_another_setting_is_refused(database: Path) -> None:
    with pytest.raises(StoreMisconfigured, match=r"'full'.*'normal'"):
        SqliteStore(database, synchronous="off")  # type: ignore[arg-type]
    assert not database.exists()


APPENDS_UNTIL_KILLED = """
import sys
from caesura.ports import Append, Take
from caesura.stores.sqlite import SqliteStore

store = SqliteStore(sys.argv[1])
epoch = store.append(Append("t", 0, 1, b"began", lease=Take("victim", 10**9)))
head = 1
while True:
    store.append(Append("t", head, 1, b"%d" % head, epoch=epoch, durable=sys.argv[2] == "durable"))
    head += 1
    print(head, flush=True)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL on this platform")
@pytest.mark.parametrize("kind", ["durable", "relaxed"])
def test_a_killed_process_loses_nothing_that_was_appended(database: Path, kind: str) -> None:
    process = start(APPENDS_UNTIL_KILLED, database, kind)
    assert process.stdout is not None
    for _ in range(200):
        last_said = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.communicate()[0].split("\n")
    said = [last_said, *(int(line) for line in rest[:-1] if line)]
    with SqliteStore(database) as store:
        assert store.head("t") >= said[-1]
        assert [record.seq for record in store.read("t")] == list(range(1, store.head("t") + 1))


class _locked:
    """Another connection holds the file, so that appends have to wait."""

    def __init__(self, connections: Connections, database: Path) -> None:
        self._other = sqlite3.connect(database, isolation_level=None)
        connections.opened.remove(self._other)

    def __enter__(self) -> None:
        self._other.execute("begin immediate")

    def __exit__(self, *error: object) -> None:
        self._other.rollback()
        self._other.close()
