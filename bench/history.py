"""Reading the history of a thread of 1,000 steps, newest first, with all values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.measure import Bound, Figures, Measurement, expect, stopwatch
from bench.peers import Library, both, thread
from bench.supersteps import loop


def history(library: Library, saver: Any, steps: int) -> Figures:
    graph = loop(library, saver, steps)
    graph.invoke({"n": 0}, thread("loop", recursion_limit=steps + 10), durability="async")
    with stopwatch() as watch:
        snapshots = list(graph.get_state_history(thread("loop")))
    expect(len(snapshots), steps + 2, "entries, those of the input among them")
    expect([s.values.get("n") for s in snapshots[:-1]], [*range(steps, -1, -1)], "the counters")
    return watch.per(1)


def in_memory(library: Library, directory: Path, steps: int) -> Figures:
    with library.memory(directory) as saver:
        return history(library, saver, steps)


def on_sqlite(library: Library, directory: Path, steps: int) -> Figures:
    with library.sqlite(directory) as saver:
        return history(library, saver, steps)


MEASUREMENTS = [
    Measurement(
        name="history-memory",
        title="history of 1,000 checkpoints, in memory",
        unit="ms for all",
        sides=both(in_memory),
        bounds=[Bound("wall", 1 / 8)],
        sizes={"full": 1000, "quick": 1000, "smoke": 5},
    ),
    Measurement(
        name="history-sqlite",
        title="history of 1,000 checkpoints, SQLite",
        unit="ms for all",
        sides=both(on_sqlite),
        bounds=[Bound("wall", 1 / 8)],
        sizes={"full": 1000, "quick": 1000, "smoke": 5},
        rounds={"full": 7, "quick": 2, "smoke": 1},
    ),
]
