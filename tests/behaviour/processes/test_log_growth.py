"""What a long thread weighs on disk, and how much of it is read to go on."""

from __future__ import annotations

import operator
import random
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from caesura import END, START, SqliteStore, StateGraph

PIECE = 200


class Growing(TypedDict):
    steps: int
    pieces: Annotated[list[bytes], operator.add]


def growing_graph(store: SqliteStore, steps: int) -> Any:
    chance = random.Random(7)

    def grow(state: Growing) -> dict[str, Any]:
        return {"steps": state["steps"] + 1, "pieces": [chance.randbytes(PIECE)]}

    def more(state: Growing) -> str:
        return "grow" if state["steps"] < steps else END

    graph = StateGraph(Growing).add_node(grow).add_edge(START, "grow")
    return graph.add_conditional_edges("grow", more).compile(checkpointer=store)


def grown(database: Path, steps: int, **how: Any) -> int:
    """Run so many steps, close the store, say how many bytes are on disk."""
    with SqliteStore(database) as store:
        result = growing_graph(store, steps).invoke(
            {"steps": 0, "pieces": []}, {"recursion_limit": steps + 10}, thread="growing", **how
        )
        assert len(result["pieces"]) == steps
    return sum(file.stat().st_size for file in database.parent.glob(database.name + "*"))


@pytest.fixture(scope="module")
def thousand_steps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    database = tmp_path_factory.mktemp("growth") / "thousand.db"
    return database, grown(database, 1000)


def test_a_thousand_steps_of_two_hundred_random_bytes_stay_under_a_megabyte(
    thousand_steps: tuple[Path, int],
) -> None:
    assert thousand_steps[1] < 1_000_000


def test_the_file_grows_linearly_with_the_steps(
    thousand_steps: tuple[Path, int], tmp_path: Path
) -> None:
    assert thousand_steps[1] < 2.5 * grown(tmp_path / "half.db", 500)


def test_written_behind_the_file_is_no_larger(
    thousand_steps: tuple[Path, int], tmp_path: Path
) -> None:
    assert grown(tmp_path / "behind.db", 1000, durability="async") < 1_000_000


def test_loading_reads_at_most_about_twice_the_state(thousand_steps: tuple[Path, int]) -> None:
    database, _ = thousand_steps
    with SqliteStore(database) as store:
        loaded = store.load("growing")
    assert loaded is not None
    snapshot = len(loaded.snapshot.body) if loaded.snapshot else 0
    read = snapshot + sum(len(record.body) for record in loaded.records)
    assert read < 2.2 * 1000 * PIECE


def test_a_reopened_long_thread_is_all_there(thousand_steps: tuple[Path, int]) -> None:
    database, _ = thousand_steps
    with SqliteStore(database) as store:
        state = growing_graph(store, 1000).get_state("growing")
        history = growing_graph(store, 1000).get_state_history("growing", limit=3)
        assert [entry.metadata["step"] for entry in history] == [1000, 999, 998]
    chance = random.Random(7)
    assert state.values["pieces"] == [chance.randbytes(PIECE) for _ in range(1000)]
