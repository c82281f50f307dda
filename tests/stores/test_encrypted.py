"""What is encrypted cannot be read, moved or mistaken; keys are changed without losing anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from caesura.errors import CorruptRecord, MissingExtra, RecordTooLarge, StoreMisconfigured
from caesura.ports import Append, Record, Snapshot, Store
from caesura.stores.encrypted import EncryptedStore
from caesura.stores.memory import MemoryStore
from caesura.stores.sqlite import SqliteStore
from caesura.testing.contract.words import begin, question, snapshot

FIRST, SECOND = b"1" * 32, b"2" * 32
SECRET = b"the patient's name is Ada"


@pytest.fixture
def plain() -> Iterator[Store]:
    with MemoryStore() as store:
        yield store


def encrypted(store: Store, *, current: str = "first", **keys: bytes) -> EncryptedStore:
    return EncryptedStore(store, keys=keys or {"first": FIRST}, current=current)


def write_a_secret(store: Store, thread: str = "t") -> int:
    """Head 2: as a record, as a snapshot and as a question."""
    epoch = begin(store, thread)
    return store.append(
        Append(
            thread,
            1,
            1,
            SECRET,
            epoch=epoch,
            snapshot=snapshot(1, body=SECRET),
            questions=[question(f"q of {thread}", body=SECRET, columns={"assignee": "bo"})],
        )
    )


def secrets(store: Store, thread: str = "t") -> list[bytes]:
    """The same three, read back."""
    loaded = store.load(thread)
    assert loaded is not None
    assert loaded.snapshot is not None
    found = store.question(f"q of {thread}")
    assert found is not None
    return [loaded.records[-1].body, loaded.snapshot.body, found.row.body]


# -------------------------------------------------------------------------------------- secrecy
def test_no_body_is_found_in_the_file(tmp_path: Path) -> None:
    with encrypted(SqliteStore(tmp_path / "app.db")) as store:
        write_a_secret(store)
        assert secrets(store) == [SECRET] * 3
        on_disk = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"Ada" not in on_disk + (tmp_path / "app.db").read_bytes()
    assert b"assignee" in on_disk  # what lists are searched by stays in the clear


def test_the_same_body_is_never_encrypted_the_same_way_twice(plain: Store) -> None:
    store = encrypted(plain)
    epoch = begin(store)
    for head in range(1, 50):
        store.append(Append("t", head, 1, SECRET, epoch=epoch))
    assert len({record.body for record in plain.read("t")}) == 50


def test_closing_closes_the_store_under_it(plain: Store) -> None:
    encrypted(plain).close()
    with pytest.raises(Exception, match="closed"):
        plain.head("t")


# ------------------------------------------------------------------------------------- integrity
def moved(plain: MemoryStore, *, records: Any = None, snapshots: Any = None) -> None:
    """Put other bytes into the store behind its back."""
    log = plain._logs["t"]
    if records is not None:
        log.records = records
    if snapshots is not None:
        log.snapshots = snapshots


def test_a_record_in_the_place_of_another_is_refused() -> None:
    with MemoryStore() as plain:
        store = encrypted(plain)
        write_a_secret(store)
        (one, first), (two, second) = plain.read("t")
        moved(plain, records=[(one, second), (two, first)])
        with pytest.raises(CorruptRecord, match=r"record 1 of thread 't'.*damaged or moved"):
            store.read("t")


def test_a_record_of_another_thread_is_refused() -> None:
    with MemoryStore() as plain:
        store = encrypted(plain)
        write_a_secret(store)
        write_a_secret(store, "u")
        moved(plain, records=list(plain.read("u")))
        with pytest.raises(CorruptRecord, match="thread 't'"):
            store.read("t")


def test_a_record_does_not_pass_for_a_snapshot() -> None:
    with MemoryStore() as plain:
        store = encrypted(plain)
        write_a_secret(store)
        moved(plain, snapshots=[Snapshot(1, 1, plain.read("t")[0].body)])
        with pytest.raises(CorruptRecord, match="snapshot"):
            store.load("t")


def test_a_question_does_not_pass_for_another(plain: Store) -> None:
    store = encrypted(plain)
    write_a_secret(store)
    epoch = begin(store, "u", questions=[question("other", body=b"harmless")])
    found = plain.question("other")
    assert found is not None
    swapped = question("third", body=found.row.body)
    plain.append(Append("u", 1, 0, b"", epoch=epoch, questions=[swapped]))
    with pytest.raises(CorruptRecord, match="question third"):
        store.questions()


@pytest.mark.parametrize("damage", ["flip", "cut", "header only", "mark only"])
def test_a_damaged_record_is_refused(damage: str) -> None:
    with MemoryStore() as plain:
        store = encrypted(plain)
        begin(store)
        (record,) = plain.read("t")
        body = {
            "flip": record.body[:-1] + bytes([record.body[-1] ^ 1]),
            "cut": record.body[:-3],
            "header only": record.body[:10],
            "mark only": record.body[:4],
        }[damage]
        moved(plain, records=[(1, body)])
        with pytest.raises(CorruptRecord):
            store.read("t")


# ------------------------------------------------------------------------------------------- keys
def test_an_old_key_goes_on_reading_and_the_new_one_writes(plain: Store) -> None:
    epoch = write_a_secret(encrypted(plain))
    both = encrypted(plain, current="second", first=FIRST, second=SECOND)
    assert secrets(both) == [SECRET] * 3
    both.append(Append("t", 2, 1, b"new", epoch=epoch))
    only_new = encrypted(plain, current="second", second=SECOND)
    assert only_new.read("t", 2) == [Record(3, b"new")]
    with pytest.raises(CorruptRecord, match=r"key 'first', which is not among .*'second'"):
        only_new.read("t")


def test_a_wrong_key_is_named_and_not_shown(plain: Store) -> None:
    write_a_secret(encrypted(plain))
    with pytest.raises(CorruptRecord, match="with key 'first'") as refused:
        encrypted(plain, first=SECOND).load("t")
    assert "2222" not in str(refused.value)


def test_what_was_written_without_encryption_is_not_mistaken_for_it(plain: Store) -> None:
    write_a_secret(plain)
    store = encrypted(plain)
    for read in (lambda: store.load("t"), lambda: store.read("t"), lambda: store.questions()):
        with pytest.raises(CorruptRecord, match=r"not encrypted.*without EncryptedStore"):
            read()


@pytest.mark.parametrize(
    ("keys", "current", "complaint"),
    [
        ({"first": b"short"}, "first", "key 'first' is not 32 bytes"),
        ({"first": "1" * 32}, "first", "key 'first' is not 32 bytes"),
        ({"first": FIRST}, "second", "no key of that name, only 'first'"),
        ({}, "first", "no key of that name, only none"),
        ({"": FIRST}, "", "cannot be the name of a key"),
        ({"k" * 256: FIRST}, "k" * 256, "cannot be the name of a key"),
    ],
)
def test_keys_that_cannot_work_are_refused_at_once(
    plain: Store, keys: Any, current: str, complaint: str
) -> None:
    with pytest.raises(StoreMisconfigured, match=complaint) as refused:
        EncryptedStore(plain, keys=keys, current=current)
    assert "1111" not in str(refused.value)
    assert "short" not in str(refused.value)


def test_without_the_package_the_error_says_how_to_install_it(
    plain: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtra, match=r"pip install 'caesura\[encryption\]'"):
        encrypted(plain)


def test_the_limit_leaves_room_for_what_encryption_adds(tmp_path: Path) -> None:
    with MemoryStore(max_bytes=1000) as plain:
        store = encrypted(plain)
        assert 900 < store.max_bytes < 1000
        append = Append("t", 0, 1, b"x" * store.max_bytes)
        with pytest.raises(RecordTooLarge) as refused:
            store.append(replace(append, body=append.body + b"x"))
        assert refused.value.limit == store.max_bytes
        store.append(append)
        assert len(plain.read("t")[0].body) == 1000
