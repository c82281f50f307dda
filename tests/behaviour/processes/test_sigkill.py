"""Processes die by SIGKILL at any moment; the next one goes on at once, nothing happens twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from caesura import SqliteStore
from caesura.testing import assert_replays
from tests.behaviour.processes import orders
from tests.behaviour.processes.workers import StartWorker, Worker

pytestmark = pytest.mark.process

ROUNDS = 4
RUNNING_AT_ONCE = 2  # packing and labelling run side by side
SEALED_AND_LABELLED = [
    line
    for number in range(ROUNDS)
    for line in (f"labelled {number}", f"packed {number}", f"sealed {number}")
]


def notes_by_round(notes: list[str]) -> list[str]:
    """The order of the two parallel branches is fixed by rule; the content is what counts here."""
    return sorted(notes, key=lambda note: (note.split()[-1], note))


def kill_after_lines(worker: Worker, lines: int) -> bool:
    """Kill the process once it has said so many lines; False when it ended before."""
    for _ in range(lines):
        said = worker.next_line()
        if said is None or said.startswith("{"):
            worker.kill()
            return False
    worker.kill()
    return True


def assert_no_finished_work_was_repeated(effects: list[orders.Effect], kills: int) -> None:
    times = Counter(effect.name for effect in effects)
    expected = {f"{what}-{number}" for what in ("pack", "label") for number in range(ROUNDS)}
    assert set(times) == expected
    repeats = sum(times.values()) - len(expected)
    assert repeats <= RUNNING_AT_ONCE * kills
    keys = {effect.name: {e.key for e in effects if e.name == effect.name} for effect in effects}
    assert all(len(of_one) == 1 for of_one in keys.values()), "a repeat must carry the same key"
    assert len(set().union(*keys.values())) == len(expected), "two effects must not share a key"


@pytest.mark.parametrize("seed", range(6))
def test_a_story_killed_at_random_ends_as_if_nobody_had_killed_it(
    seed: int, start: StartWorker, database: Path, effects: Path
) -> None:
    chance = random.Random(seed)
    kills = 0
    for _ in range(8):
        if not kill_after_lines(start("finish", ROUNDS), chance.randint(1, 9)):
            break
        kills += 1
    outcome = start("finish", ROUNDS).outcome()
    assert "ok" in outcome, outcome
    assert notes_by_round(outcome["ok"]) == notes_by_round(SEALED_AND_LABELLED)
    assert_no_finished_work_was_repeated(orders.World(effects).effects(), kills)
    with SqliteStore(database) as store:
        graph = orders.many_rounds(store, orders.World(effects), ROUNDS)
        assert graph.get_state("order-7").values["notes"] == outcome["ok"]
        assert_replays(graph, "order-7")


def test_an_effect_that_was_begun_when_the_process_died_runs_again_under_its_key(
    start: StartWorker, effects: Path
) -> None:
    worker = start("finish", 1)
    worker.wait_for("packing 0")
    worker.kill()
    assert "ok" in start("finish", 1).outcome()
    packed = [effect for effect in orders.World(effects).effects() if effect.name == "pack-0"]
    assert 1 <= len(packed) <= 2
    assert len({effect.key for effect in packed}) == 1


def test_the_next_process_goes_on_at_once_where_a_killed_one_held_the_thread(
    start: StartWorker, effects: Path
) -> None:
    dead = start("hold")
    dead.wait_for("inside")
    dead.kill()
    heir = start("hold")
    heir.wait_for("inside")  # nobody waited for a lease to lapse: the call was not told to wait
    heir.tell("by the heir")
    assert heir.outcome() == {"ok": ["opened", "by the heir"]}
    assert [effect.name for effect in orders.World(effects).effects()] == ["gate"]


def test_a_chain_of_killed_holders_never_blocks_the_next_one(
    start: StartWorker, effects: Path
) -> None:
    for _ in range(4):
        dead = start("hold")
        dead.wait_for("inside")
        dead.kill()
    heir = start("hold")
    heir.wait_for("inside")
    heir.tell("at last")
    assert heir.outcome() == {"ok": ["opened", "at last"]}
    assert [effect.name for effect in orders.World(effects).effects()] == ["gate"]
