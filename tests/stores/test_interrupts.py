"""A thread may be stopped anywhere in a call: nobody waits for ever, and no head is lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.stores.observing import run

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="no timers that interrupt there"),
]

# As Ctrl-C does, the signal raises an exception between any two steps of the main thread.
PROGRAM = """
import faulthandler, random, signal, sys, threading
from caesura.errors import StaleHead
from caesura.ports import Append, Take
from caesura.stores.memory import MemoryStore
from caesura.stores.sqlite import SqliteStore

faulthandler.dump_traceback_later(40, exit=True)  # who waits for ever is shown
store = MemoryStore() if sys.argv[1] == "memory" else SqliteStore(sys.argv[1])
stop, failed, told = threading.Event(), [], []

class Sink:
    def landed(self, outcomes):
        told.extend(outcomes)

def begin(name):
    return store.append(Append(name, 0, 1, b"began", lease=Take("ana", 10**12)))

def write(name):
    try:
        epoch, head = begin(name), 1
        while not stop.is_set():
            append = Append(name, head, 1, b"x", epoch=epoch, durable=False)
            if name == "soon":
                store.append_soon(append, head, Sink())
                if head % 50 == 0:
                    store.sync()
            else:
                store.append(append)
            head += 1
        store.sync()
        assert store.head(name) == head, (name, head)
    except BaseException as error:
        failed.append(repr(error))

class Stopped(BaseException):
    pass

is_armed = False
def ring(*_):
    global is_armed
    if is_armed:
        is_armed = False
        raise Stopped

signal.signal(signal.SIGALRM, ring)
others = [threading.Thread(target=write, args=(name,)) for name in ("soon", "now", "too")]
for thread in others:
    thread.start()
epoch, head, chance, interrupts = begin("main"), 1, random.Random(7), 0
while interrupts < 400:
    try:
        is_armed = True  # first: a signal that comes too early for it would never come again
        signal.setitimer(signal.ITIMER_REAL, 0.00005 + chance.random() * 0.002)
        while True:
            store.append(Append("main", head, 1, b"%d" % head, epoch=epoch))
            head += 1
    except Stopped:
        interrupts += 1
    except StaleHead as stale:  # what was stopped had been written, or was written after all
        is_armed = False
        assert stale.head == head + 1, (stale.head, head)
        head = stale.head
stop.set()
for thread in others:
    thread.join()
bodies = [int(record.body) for record in store.read("main", 1)]
assert bodies == list(range(1, len(bodies) + 1)), bodies
assert store.head("main") == len(bodies) + 1
store.close()
assert [head for head, _ in told] == list(range(1, len(told) + 1))
print("failed:", failed)
"""


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_thread_that_is_stopped_leaves_the_others_and_the_log_whole(
    kind: str, tmp_path: Path
) -> None:
    assert run(PROGRAM, tmp_path / "app.db" if kind == "sqlite" else kind) == "failed: []\n"
