"""What one superstep costs: a loop of 1,000 steps over a tiny state.

Also the same loop over a wide state (50 keys, one of them a list of 10,000), and 200 threads that
loop side by side on one SQLite file, where a store can share one fsync among many commits.
"""

from __future__ import annotations

import asyncio
import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

from bench import bare
from bench.measure import Bound, Figures, Measurement, expect, stopwatch
from bench.peers import Library, both, thread


class Counter(TypedDict):
    n: int


def loop(library: Library, saver: Any, steps: int, schema: Any = Counter, node: Any = None) -> Any:
    """A node that runs until its counter says stop."""

    def count(state: dict[str, Any]) -> dict[str, Any]:
        return {"n": state["n"] + 1}

    def again(state: dict[str, Any]) -> str:
        return "count" if state["n"] < steps else library.END

    graph = library.StateGraph(schema)
    graph.add_node("count", node or count)
    graph.add_edge(library.START, "count")
    graph.add_conditional_edges("count", again, ["count", library.END])
    return graph.compile(checkpointer=saver)


def in_memory(library: Library, directory: Path, steps: int) -> Figures:
    with library.memory(directory) as saver:
        return _run(loop(library, saver, steps), {"n": 0}, steps, "sync")


def on_sqlite_sync(library: Library, directory: Path, steps: int) -> Figures:
    with library.sqlite(directory) as saver:
        return _run(loop(library, saver, steps), {"n": 0}, steps, "sync")


def on_sqlite_async(library: Library, directory: Path, steps: int) -> Figures:
    with library.sqlite(directory) as saver:
        return _run(loop(library, saver, steps), {"n": 0}, steps, "async")


def _run(graph: Any, start: dict[str, Any], steps: int, durability: str) -> Figures:
    config = thread("loop", recursion_limit=steps + 10)
    with stopwatch() as watch:
        result = graph.invoke(start, config, durability=durability)
    expect(result["n"], steps, "the counter")
    return watch.per(steps)


# ------------------------------------------------------------------------------------ wide state
KEYS, ITEMS = 50, 10_000
NAMES = {f"key_{i}": str for i in range(KEYS - 2)}
Wide: Any = TypedDict(
    "Wide",
    {"n": int, "items": Annotated[list[Any], operator.add], **NAMES},  # type: ignore[misc]
)


def wide(library: Library, saver: Any, steps: int, *, item_per_step: bool) -> Figures:
    """Each step counts, renames one of the keys and, if told, adds one item to the list."""

    def touch(state: dict[str, Any]) -> dict[str, Any]:
        n = state["n"] + 1
        update: dict[str, Any] = {"n": n, f"key_{n % (KEYS - 2)}": f"renamed in step {n}"}
        if item_per_step:
            update["items"] = [n]
        return update

    start = {"n": 0, "items": list(range(ITEMS))}
    start |= {f"key_{i}": f"value {i}" for i in range(KEYS - 2)}
    graph = loop(library, saver, steps, Wide, touch)
    figures = _run(graph, start, steps, "sync")
    items = len(graph.get_state(thread("loop")).values["items"])
    expect(items, ITEMS + (steps if item_per_step else 0), "the length of the list")
    return figures


def wide_in_memory(library: Library, directory: Path, steps: int) -> Figures:
    with library.memory(directory) as saver:
        return wide(library, saver, steps, item_per_step=False)


def wide_on_sqlite(library: Library, directory: Path, steps: int) -> Figures:
    with library.sqlite(directory) as saver:
        return wide(library, saver, steps, item_per_step=False)


def wide_and_growing(library: Library, directory: Path, steps: int) -> Figures:
    with library.sqlite(directory) as saver:
        return wide(library, saver, steps, item_per_step=True)


# ---------------------------------------------------------------------------------- side by side
STEPS_EACH = 10


def side_by_side(library: Library, directory: Path, threads: int) -> Figures:
    async def go() -> Figures:
        async with library.sqlite_async(directory) as saver:
            graph = loop(library, saver, STEPS_EACH)
            with stopwatch() as watch:
                results = await asyncio.gather(
                    *(
                        graph.ainvoke({"n": 0}, thread(f"loop-{i}"), durability="sync")
                        for i in range(threads)
                    )
                )
        expect([r["n"] for r in results], [STEPS_EACH] * threads, "the counters")
        return watch.per(threads * STEPS_EACH)

    return asyncio.run(go())


def _bare_side_by_side(directory: Path, threads: int) -> Figures:
    return bare.grouped_rows(directory, threads, steps=STEPS_EACH)


MEASUREMENTS = [
    Measurement(
        name="superstep-memory",
        title="superstep, in memory",
        unit="ms per superstep",
        sides=both(in_memory),
        bounds=[Bound("wall", 1 / 15)],
        sizes={"full": 1000, "quick": 300, "smoke": 5},
    ),
    Measurement(
        name="superstep-sqlite",
        title="superstep, SQLite, sync",
        unit="ms per superstep",
        sides={**both(on_sqlite_sync), "bare": bare.transactions},
        bounds=[
            Bound("wall", 0.4),
            Bound("cpu", 1 / 5),
            Bound("wall", 0.1, kind="added", against="bare", note="over a bare transaction"),
            Bound("cpu", 1.5, against="bare", note="of a bare transaction"),
        ],
        sizes={"full": 1000, "quick": 300, "smoke": 5},
    ),
    Measurement(
        name="superstep-sqlite-async",
        title="superstep, SQLite, async durability",
        unit="ms per superstep",
        sides=both(on_sqlite_async),
        bounds=[Bound("wall", 1 / 12)],
        sizes={"full": 1000, "quick": 300, "smoke": 5},
    ),
    Measurement(
        name="side-by-side",
        title="superstep, 200 threads side by side, SQLite",
        unit="ms per superstep",
        sides={**both(side_by_side), "bare": _bare_side_by_side},
        bounds=[Bound("wall", 1 / 20)],
        sizes={"full": 200, "quick": 200, "smoke": 4},
        rounds={"full": 5, "quick": 2, "smoke": 1},
    ),
    Measurement(
        name="wide-memory",
        title="superstep, wide state, in memory",
        unit="ms per superstep",
        sides=both(wide_in_memory),
        bounds=[Bound("wall", 1 / 4)],
        sizes={"full": 300, "quick": 100, "smoke": 5},
    ),
    Measurement(
        name="wide-sqlite",
        title="superstep, wide state, SQLite",
        unit="ms per superstep",
        sides={**both(wide_on_sqlite), "bare": bare.transactions},
        bounds=[Bound("wall", 1 / 4)],
        sizes={"full": 300, "quick": 100, "smoke": 5},
    ),
    Measurement(
        name="wide-growing",
        title="superstep, wide state whose list grows, SQLite",
        unit="ms per superstep",
        sides={**both(wide_and_growing), "bare": bare.transactions},
        bounds=[Bound("wall", 1 / 4)],
        sizes={"full": 300, "quick": 100, "smoke": 5},
    ),
]
