"""What a list costs that grows by 200 random bytes in each of 1,000 steps: the file after close."""

from __future__ import annotations

import operator
from pathlib import Path
from random import Random
from typing import Annotated, Any, TypedDict

from bench import bare
from bench.measure import Bound, Figures, Measurement, expect
from bench.peers import Library, both, thread
from bench.supersteps import loop

CHUNK_BYTES = 200


class Growing(TypedDict):
    n: int
    chunks: Annotated[list[Any], operator.add]


def growth(library: Library, directory: Path, steps: int) -> Figures:
    random = Random(7)

    def grow(state: dict[str, Any]) -> dict[str, Any]:
        return {"n": state["n"] + 1, "chunks": [random.randbytes(CHUNK_BYTES)]}

    with library.sqlite(directory) as saver:
        graph = loop(library, saver, steps, Growing, grow)
        config = thread("growing", recursion_limit=steps + 10)
        result = graph.invoke({"n": 0, "chunks": []}, config, durability="sync")
    expect(sum(map(len, result["chunks"])), steps * CHUNK_BYTES, "bytes in the list")
    return {"bytes": _disk_usage(directory)}


def _bare(directory: Path, steps: int) -> Figures:
    bare.transactions(directory, steps)
    return {"bytes": _disk_usage(directory)}


def _disk_usage(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.iterdir())


MEASUREMENTS = [
    Measurement(
        name="growing-list",
        title="list growing by 200 bytes for 1,000 steps",
        unit="bytes on disk",
        sides={**both(growth), "bare": _bare},
        bounds=[Bound("bytes", 1_000_000, kind="absolute", against=None)],
        sizes={"full": 1000, "quick": 300, "smoke": 5},
        rounds={"full": 1, "quick": 1, "smoke": 1},
        metrics=("bytes",),
    ),
]
