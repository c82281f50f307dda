"""No connection is carried over a fork; a store in memory is copied whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from caesura.stores.sqlite import SqliteStore
from tests.stores.observing import run

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on this platform"),
]

# Every program prints what happened in the child and then what happened in the parent.
WORDS = """
import os, sys, threading, warnings
from caesura.errors import LeaseLost, StoreClosed
from caesura.ports import Append, Take
from caesura.stores.memory import MemoryStore
from caesura.stores.sqlite import SqliteStore

warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of a fork beside threads

def begin(store, thread):
    return store.append(Append(thread, 0, 1, b"began", lease=Take("ana", 10**12)))

def in_a_child(act):
    child = os.fork()
    if child == 0:
        try:
            print("child:", act(), flush=True)
        except StoreClosed as error:
            print("child refused:", error, flush=True)
        except BaseException as error:
            print("child failed:", repr(error), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""

REFUSED = """
store = SqliteStore(sys.argv[1])
epoch = begin(store, "t")
in_a_child(lambda: store.head("t"))
in_a_child(lambda: store.append(Append("t", 1, 1, b"x", epoch=epoch)))
in_a_child(lambda: (store.close(), "closed")[1])
store.append(Append("t", 1, 1, b"x", epoch=epoch))
print("parent:", store.head("t"))
store.close()
"""


def test_a_store_from_before_a_fork_is_refused_in_the_child(tmp_path: Path) -> None:
    said = run(WORDS + REFUSED, tmp_path / "app.db").splitlines()
    assert [line.partition(":")[0] for line in said] == [
        "child refused",
        "child refused",
        "child",
        "parent",
    ]
    assert "before a fork" in said[0]
    assert "after the fork" in said[1]
    assert said[3] == "parent: 2"


OWN = """
read, write = os.pipe()
store = SqliteStore(sys.argv[1])
begin(store, "parent")
child = os.fork()
if child == 0:
    os.close(write)
    own = SqliteStore(sys.argv[1])
    epoch = begin(own, "child")
    os.read(read, 1)  # until the parent's store is closed
    own.append(Append("child", 1, 1, b"after that", epoch=epoch))
    print("child:", own.head("parent"), own.head("child"), flush=True)
    os._exit(0)  # as if it were killed: nothing is closed
store.append(Append("parent", 1, 1, b"more"))
store.close()
os.close(write)
os.waitpid(child, 0)
"""


def test_a_child_with_a_store_of_its_own_loses_nothing_when_the_parent_closes_its_store(
    tmp_path: Path,
) -> None:
    assert run(WORDS + OWN, tmp_path / "app.db") == "child: 2 2\n"
    with SqliteStore(tmp_path / "app.db") as store:
        assert (store.head("parent"), store.head("child")) == (2, 2)


BUSY = """
store = SqliteStore(sys.argv[1])
stop = threading.Event()
heads = {}

def write(name):
    epoch, head = begin(store, name), 1
    while not stop.is_set():
        store.append(Append(name, head, 1, b"x", epoch=epoch))
        head += 1
        assert store.head(name) == head
    heads[name] = head

threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(4)]
for thread in threads:
    thread.start()
for n in range(10):
    def own(n=n):
        with SqliteStore(sys.argv[1]) as own:
            return begin(own, f"child {n}")
    in_a_child(own)
stop.set()
for thread in threads:
    thread.join()
print("parent:", all(store.head(name) == head for name, head in heads.items()), len(heads))
store.close()
"""


def test_a_process_may_fork_while_its_threads_read_and_write(tmp_path: Path) -> None:
    said = run(WORDS + BUSY, tmp_path / "app.db").splitlines()
    assert said == ["child: 1"] * 10 + ["parent: True 4"]


COPIED = """
store = MemoryStore()
epoch = begin(store, "t")
def act():
    try:
        store.append(Append("t", 1, 1, b"x", epoch=epoch))
    except LeaseLost:
        pass
    else:
        return "went on under the parent's lease"
    store.append(Append("t", 1, 1, b"x", lease=Take("child", 10**12)))
    begin(store, "new")
    return store.head("t"), store.head("new")
in_a_child(act)
store.append(Append("t", 1, 2, b"x", epoch=epoch))
print("parent:", store.head("t"), store.head("new"))
"""


def test_a_child_goes_on_with_a_copy_of_a_store_in_memory(tmp_path: Path) -> None:
    assert run(WORDS + COPIED).splitlines() == ["child: (2, 1)", "parent: 3 0"]


BUSY_COPIED = """
sys.setswitchinterval(1e-4)  # four threads that never wait would keep the fifth waiting
store = MemoryStore()
stop = threading.Event()

def write(name):
    epoch, head = begin(store, name), 1
    while not stop.is_set() and head < 20_000:  # a copy has to be read, too
        store.append(Append(name, head, 1, b"x", epoch=epoch))
        head += 1

threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(4)]
for thread in threads:
    thread.start()
def is_whole():
    for found in store.threads():
        begin(store, found.thread + " of the child")
        assert len(store.read(found.thread)) == found.head
    return "whole"
for _ in range(10):
    in_a_child(is_whole)
stop.set()
"""


def test_the_copy_is_whole_although_threads_were_writing(tmp_path: Path) -> None:
    assert run(WORDS + BUSY_COPIED).splitlines() == ["child: whole"] * 10
