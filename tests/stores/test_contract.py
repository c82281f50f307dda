"""Every store of the house, and every fake of one, does what a store promises."""

from __future__ import annotations

from pathlib import Path

from caesura.ports import Store
from caesura.stores.encrypted import EncryptedStore
from caesura.stores.memory import MemoryStore
from caesura.stores.sqlite import SqliteStore
from caesura.testing import CrashAfter, ManualClock, StoreContract

KEYS = {"first": b"1" * 32, "second": b"2" * 32}


class TestMemoryStore(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        return MemoryStore(clock=clock, max_bytes=max_bytes)


class TestSqliteStore(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        return SqliteStore(folder / "app.db", clock=clock, max_bytes=max_bytes)


class TestSqliteStoreThatDoesNotWaitForTheDisk(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        return SqliteStore(
            folder / "app.db", clock=clock, max_bytes=max_bytes, synchronous="normal"
        )


class TestSqliteStoreInMemory(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        return SqliteStore(":memory:", clock=clock, max_bytes=max_bytes)


class TestEncryptedMemoryStore(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        plain = MemoryStore(clock=clock, max_bytes=max_bytes)
        return EncryptedStore(plain, keys=KEYS, current="first")


class TestEncryptedSqliteStore(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        plain = SqliteStore(folder / "app.db", clock=clock, max_bytes=max_bytes)
        return EncryptedStore(plain, keys=KEYS, current="second")


class TestCrashThatNeverComes(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        return CrashAfter(MemoryStore(clock=clock, max_bytes=max_bytes))


class TestCrashThatNeverComesOnSqlite(StoreContract):
    def make_store(self, folder: Path, *, clock: ManualClock, max_bytes: int) -> Store:
        return CrashAfter(SqliteStore(folder / "app.db", clock=clock, max_bytes=max_bytes))
