"""A store opened before a fork is refused in the child and goes on working in the parent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on this platform"),
]

HERE = Path(__file__).parent

FORKED = """
import os, sys, warnings
sys.path.insert(0, sys.argv[2])
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of a fork beside threads
import orders
from pathlib import Path
from caesura import SqliteStore
from caesura.errors import StoreClosed

store = SqliteStore(sys.argv[1])
world = orders.World(Path(sys.argv[1] + ".effects"))
graph = orders.one_question(store, world)
graph.invoke({"rounds": 0, "notes": []}, thread="parent")
child = os.fork()
if child == 0:
    try:
        graph.invoke({"rounds": 0, "notes": []}, thread="child")
    except StoreClosed as error:
        print("refused:", error, flush=True)
    else:
        print("went through", flush=True)
    with SqliteStore(sys.argv[1]) as own:
        state = orders.one_question(own, world).get_state("parent")
        print("own store sees:", state.next, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("parent:", graph.invoke(None, thread="parent").interrupts[0].value, flush=True)
store.close()
"""


def test_a_store_from_before_a_fork_is_refused_in_the_child_and_whole_in_the_parent(
    database: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORKED, str(database), str(HERE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    refused, own, parent = ran.stdout.splitlines()
    assert refused.startswith("refused:")
    assert "fork" in refused
    assert own == "own store sees: ('review',)"
    assert parent == "parent: may I charge?"
