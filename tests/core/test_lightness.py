"""What building, freezing and drawing a graph load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from typing import TypedDict
from caesura.core.control import START
from caesura.core.draw import Drawing
from caesura.core.graph import GraphBuilder

class State(TypedDict):
    n: int

def node(state: State) -> None: ...

plan = GraphBuilder(State).add_node(node).add_edge(START, "node").freeze(name="graph")
Drawing.of(plan).draw_text()
Drawing.of(plan).draw_mermaid()
print(*sys.modules)
"""
HEAVY = {
    "asyncio",
    "langchain_core",
    "logging",
    "pydantic",
    "sqlite3",
    "threading",
    "multiprocessing",
}


def test_a_graph_is_built_and_drawn_without_what_only_running_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, str(SOURCE)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(done.stdout.split())
