"""One private file, whole when it is closed; what is wrong with it is said and left as it is."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from caesura.errors import CorruptRecord, StoreMisconfigured, StoreUnavailable, UnknownFormat
from caesura.ports import Append
from caesura.stores.sqlite import SqliteStore
from caesura.testing.contract.words import begin
from tests.stores.observing import Connections


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.db"


def test_after_closing_the_one_file_is_the_whole_database(database: Path) -> None:
    with SqliteStore(database) as store:
        epoch = begin(store)
        store.append(Append("t", 1, 1, b"relaxed", epoch=epoch, durable=False))
        store.load("t")
    assert os.listdir(database.parent) == ["app.db"]
    moved = database.rename(database.parent / "moved.db")
    with SqliteStore(moved) as store:
        assert store.head("t") == 2


def test_the_last_of_several_stores_to_close_leaves_one_file(database: Path) -> None:
    with SqliteStore(database) as first:
        with SqliteStore(database) as second:
            epoch = begin(second)
        first.append(Append("t", 1, 1, b"first", epoch=epoch))
        assert first.head("t") == 2
    assert os.listdir(database.parent) == ["app.db"]


def test_a_store_says_whether_other_processes_can_reach_it(database: Path) -> None:
    with SqliteStore(database) as store, SqliteStore(":memory:") as in_memory:
        assert (store.shared, in_memory.shared) == (True, False)


def test_stores_in_memory_are_apart_and_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteStore(":memory:") as one, SqliteStore(":memory:") as other:
        begin(one)
        assert (one.head("t"), other.head("t")) == (1, 0)
    assert os.listdir(tmp_path) == []


def test_a_relative_path_means_the_same_after_a_change_of_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with SqliteStore("app.db") as store:
        monkeypatch.chdir(tmp_path / "elsewhere")
        begin(store)
        assert store.head("t") == 1  # by a connection that is opened only now
    assert (tmp_path / "app.db").exists()
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_two_names_of_one_file_are_one_database(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "data" / "app.db")
    with SqliteStore(link) as one, SqliteStore(tmp_path / "data" / "app.db") as other:
        begin(one)
        assert other.head("t") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions on this platform")
def test_only_its_owner_can_read_a_new_file(database: Path) -> None:
    with SqliteStore(database) as store:
        begin(store)
        for file in database.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions on this platform")
def test_the_permissions_of_a_file_that_is_there_stay(database: Path) -> None:
    SqliteStore(database).close()
    database.chmod(0o640)
    with SqliteStore(database) as store:
        begin(store)
    assert stat.S_IMODE(database.stat().st_mode) == 0o640


# ------------------------------------------------------------------------------------ what is wrong
def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"missing.*Create its folder first"):
        SqliteStore(tmp_path / "missing" / "app.db")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder"):
        SqliteStore(tmp_path)


@pytest.mark.parametrize("name", ["", "file:app.db?mode=memory"])
def test_what_is_no_path_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreMisconfigured, match="path of a file"):
        SqliteStore(name)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(database: Path) -> None:
    text = b"Dear diary, today I was mistaken for a database.\n" * 100
    database.write_bytes(text)
    with pytest.raises(CorruptRecord, match="no SQLite file"):
        SqliteStore(database)
    assert database.read_bytes() == text
    assert os.listdir(database.parent) == ["app.db"]


def test_the_database_of_another_program_is_refused_and_left_as_it_is(database: Path) -> None:
    with closing(sqlite3.connect(database)) as other:
        other.execute("create table customers (name text)")
    before = database.read_bytes()
    with pytest.raises(StoreUnavailable, match=r"another program.*file of their own"):
        SqliteStore(database)
    assert database.read_bytes() == before


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(database: Path) -> None:
    with SqliteStore(database) as store:
        begin(store)
    with closing(sqlite3.connect(database)) as newer:
        newer.execute("pragma user_version = 99")
    before = database.read_bytes()
    with pytest.raises(UnknownFormat, match="format 99") as refused:
        SqliteStore(database)
    assert refused.value.found == 99
    with closing(sqlite3.connect(database)) as newer:
        newer.execute("pragma user_version = 1")
    with SqliteStore(database) as store:
        assert store.head("t") == 1
    assert len(before) == database.stat().st_size


def test_a_damaged_file_is_called_damaged(database: Path) -> None:
    with SqliteStore(database) as store:
        epoch = begin(store)
        for head in range(1, 200):
            store.append(Append("t", head, 1, b"x" * 500, epoch=epoch, durable=False))
    damaged = bytearray(database.read_bytes())
    damaged[4096:] = b"\xff" * (len(damaged) - 4096)
    database.write_bytes(damaged)
    with SqliteStore(database) as store, pytest.raises(CorruptRecord, match="backup"):
        store.load("t")


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions on this platform")
def test_a_file_that_must_not_be_written_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:  # one that others may enter, unlike pytest's
        database = Path(folder, "app.db")
        with SqliteStore(database) as store:
            begin(store)
        Path(folder).chmod(0o755)
        database.chmod(0o444)
        assert _refused_to_a_stranger(database)


def _refused_to_a_stranger(database: Path) -> bool:
    """Open it as a user to whom something is forbidden, which root is not."""
    asked = [sys.executable, "-c", STRANGER, str(database)]
    answer = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr
    return "permissions" in answer.stdout


STRANGER = """
import os, sys, tempfile
from caesura.errors import StoreUnavailable
from caesura.stores.sqlite import SqliteStore
from caesura.testing.contract.words import begin

with tempfile.TemporaryDirectory() as folder, SqliteStore(os.path.join(folder, "a.db")) as store:
    begin(store)  # everything is imported while it may be read
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with SqliteStore(sys.argv[1]) as store:
        begin(store, "another")
except StoreUnavailable as refused:
    print(refused)
"""


def test_a_file_that_is_refused_is_not_kept_open(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.write_bytes(b"no database at all, really not" * 100)
    connections = Connections(monkeypatch)
    with pytest.raises(CorruptRecord):
        SqliteStore(database)
    for connection in connections.opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("select 1")
