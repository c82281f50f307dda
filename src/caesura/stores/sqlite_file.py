"""Opening one SQLite file so that several threads and processes can share it.

Promises: a new file can be read by its owner only; a file of a newer version, or of another
program, is refused before anything in it is changed; `database is locked` reaches no caller.
Does not promise: to work on network file systems, which cannot share memory between machines.
Called by `sqlite` and its reads and writes.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from caesura.errors import (
    CorruptRecord,
    StoreMisconfigured,
    StoreTrouble,
    StoreUnavailable,
    UnknownFormat,
)

FORMAT = 1
_APPLICATION = 0x43534652  # what `file` and other readers can tell it by
_MEMORY = ":memory:"

# SQLite's own way of waiting for a lock looks ten times a second, and while it waits its thread
# cannot be stopped. Beside a process that writes all the time it would rarely find the lock free.
_LOOK_AGAIN_S = 0.0005  # at first
_LOOK_AGAIN_AT_LEAST_S = 0.01
PATIENCE_S = 120.0  # then somebody has to look

# Ids of events and snapshots are `no << 32 | seq`: one thread's records lie side by side, and a
# record needs no index. `no` is never used again, so what is remembered of it cannot come to mean
# another thread. After pruning, a record without a body marks where the log begins.
_SCHEMA = """
create table threads (
    no integer primary key autoincrement,
    thread text not null unique,
    graph text not null,
    status text not null,
    updated_at integer not null,
    due integer,
    owner text,
    epoch integer not null,
    until integer not null
);
create index threads_by_status on threads (status, thread);
create table events (id integer primary key, body blob);
create table snapshots (id integer primary key, step integer not null, body blob not null);
create table interrupts (
    id text primary key,
    no integer not null,
    status text not null,
    asked_at integer not null,
    due integer,
    columns text not null,
    body blob not null
);
create index interrupts_by_status on interrupts (status, asked_at, id);
create index interrupts_by_thread on interrupts (no, asked_at, id);
create index interrupts_due on interrupts (due) where status = 'open' and due is not null;
create table runs (
    no integer not null,
    step integer not null,
    place integer not null,
    node text not null,
    started_at integer not null,
    ended_at integer not null,
    outcome text not null,
    primary key (no, step, place)
) without rowid;
create table counters (name text primary key, value integer not null) without rowid;
insert into counters values ('epochs of the deleted', 0), ('syncs', 0);
"""

T = TypeVar("T")


class SqliteFile:
    """Where it is, and how connections to it are made."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        name = os.fsdecode(path)
        if not name or name.startswith("file:"):
            raise StoreMisconfigured(
                f"SqliteStore({name!r}): give the path of a file, or ':memory:'; no URI."
            )
        self.is_memory = name == _MEMORY
        # Absolute, because the program may change its directory; and without links, because the
        # log of SQLite lies beside the real file.
        self.path = name if self.is_memory else os.path.realpath(name)

    def create(self) -> sqlite3.Connection:
        """The first connection: makes the file and its tables where they are missing."""
        if not self.is_memory:
            self._make_private()
        connection = self.connect()
        try:
            self.patiently(lambda: self._prepare(connection))
        except BaseException:
            connection.close()
            raise
        return connection

    def connect(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False, timeout=0
            )
        except sqlite3.Error as error:
            raise self.trouble(error) from error

    def patiently(self, act: Callable[[], T]) -> T:
        """Do it again for as long as another process holds the file."""
        pause_s, give_up_at = _LOOK_AGAIN_S, 0.0
        while True:
            try:
                return act()
            except sqlite3.Error as error:
                now = time.monotonic()
                give_up_at = give_up_at or now + PATIENCE_S
                if not is_busy(error) or now >= give_up_at:
                    raise self.trouble(error) from error
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.1, _LOOK_AGAIN_AT_LEAST_S)

    def trouble(self, error: sqlite3.Error) -> StoreTrouble:
        if is_busy(error):
            return StoreUnavailable(
                f"{self.path} has been locked by another process for more than "
                f"{PATIENCE_S:.0f} s. Find out which one (fuser, lsof) and stop it."
            )
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return CorruptRecord(
                f"{self.path} is damaged, or no SQLite file at all ({error}). Restore a backup, or "
                f"let `sqlite3 {self.path} .recover` save what is left."
            )
        return StoreUnavailable(
            f"SQLite cannot go on with {self.path}: {error} ({name or type(error).__name__}). Look "
            f"at free space, permissions and the disk, then call again."
        )

    def _make_private(self) -> None:
        """Before SQLite opens it, because SQLite would ask the umask; its log follows the file."""
        if os.path.isdir(self.path):
            raise StoreUnavailable(
                f"{self.path} is a folder. Give the path of a file in it, such as "
                f"{os.path.join(self.path, 'app.db')}."
            )
        try:
            # Never opened when it is there: closing it would drop the locks of this whole process.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            pass
        except OSError as error:
            raise StoreUnavailable(
                f"{self.path} cannot be created: {error.strerror}. Create its folder first, or "
                f"give a path that may be written to."
            ) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self._has_tables(connection):
            self._switch_to_log(connection)
            return
        self._switch_to_log(connection)
        connection.execute("begin immediate")
        try:
            if not self._has_tables(connection):  # another process may have been faster
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"pragma application_id = {_APPLICATION}")
                connection.execute(f"pragma user_version = {FORMAT}")
            connection.execute("commit")
        finally:
            if connection.in_transaction:
                connection.execute("rollback")

    def _has_tables(self, connection: sqlite3.Connection) -> bool:
        """False for a new file; refuses what is not ours to write in."""
        (version,) = connection.execute("pragma user_version").fetchone()
        (application,) = connection.execute("pragma application_id").fetchone()
        (tables,) = connection.execute("select count(*) from sqlite_schema").fetchone()
        if application != _APPLICATION and (tables or version or application):
            raise StoreUnavailable(
                f"{self.path} is a SQLite file of another program. Give threads a file of their "
                f"own. Nothing was changed."
            )
        if version > FORMAT:
            raise UnknownFormat(version, FORMAT)
        return bool(tables)

    def _switch_to_log(self, connection: sqlite3.Connection) -> None:
        (mode,) = connection.execute("pragma journal_mode").fetchone()
        if mode == "wal" or self.is_memory:
            return
        (mode,) = connection.execute("pragma journal_mode = wal").fetchone()
        if mode != "wal":
            raise StoreUnavailable(
                f"{self.path} is on a file system that cannot share memory between processes "
                f"(write-ahead logging stays {mode!r}). Put it on a local disk."
            )


def is_busy(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
