"""What a fresh process pays before it can do anything, each time in a new interpreter.

`import` is the bare statement; `first-program` goes on to the first result of a graph on SQLite,
which is what a command line tool or a serverless function really waits for: a lazy import that
only puts the cost off would show there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench.measure import Bound, Figures, Measurement, Unavailable

PROBE = """
import time
wall, cpu = time.perf_counter(), time.process_time()
{program}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""

FIRST_PROGRAM = """
from typing import TypedDict
{imports}

class State(TypedDict):
    n: int

def count(state: State) -> dict:
    return {{"n": state["n"] + 1}}

with {store} as store:
    graph = StateGraph(State)
    graph.add_node("count", count)
    graph.add_edge(START, "count")
    graph.add_edge("count", END)
    app = graph.compile(checkpointer=store)
    assert app.invoke({{"n": 0}}, {{"configurable": {{"thread_id": "first"}}}})["n"] == 1
"""

OURS = FIRST_PROGRAM.format(
    imports="from caesura import END, START, SqliteStore, StateGraph", store='SqliteStore("a.db")'
)
LANGGRAPHS = FIRST_PROGRAM.format(
    imports="from langgraph.graph import END, START, StateGraph\n"
    "from langgraph.checkpoint.sqlite import SqliteSaver",
    store='SqliteSaver.from_conn_string("a.db")',
)


def in_a_fresh_process(program: str, directory: Path, _: int) -> Figures:
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(program=program)],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_import_path())},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"a fresh process failed: {done.stderr.strip().splitlines()[-1]}")
    wall, cpu = map(float, done.stdout.split()[-2:])
    return {"wall": wall * 1e3, "cpu": cpu * 1e3}


def _import_path() -> list[str]:
    """So that the fresh process finds the same caesura as this one, installed or not."""
    given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    spec = find_spec("caesura")
    here = [str(Path(spec.origin).parents[1])] if spec and spec.origin else []
    return here + [os.path.abspath(path) for path in given]


MEASUREMENTS = [
    Measurement(
        name="import",
        title="import caesura / import langgraph.graph",
        unit="ms",
        sides={
            "ours": partial(in_a_fresh_process, "import caesura"),
            "langgraph": partial(in_a_fresh_process, "import langgraph.graph"),
            "bare": partial(in_a_fresh_process, "pass"),
        },
        bounds=[Bound("wall", 1 / 10)],
    ),
    Measurement(
        name="first-program",
        title="from import to a graph's first result on SQLite",
        unit="ms",
        sides={
            "ours": partial(in_a_fresh_process, OURS),
            "langgraph": partial(in_a_fresh_process, LANGGRAPHS),
            "bare": partial(in_a_fresh_process, "import msgspec, sqlite3, typing"),
        },
    ),
]
