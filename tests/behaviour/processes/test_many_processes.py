"""Several processes on one thread: one runs it, the others are told, nothing happens twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from caesura import SqliteStore
from tests.behaviour.processes import orders
from tests.behaviour.processes.workers import StartWorker

pytestmark = pytest.mark.process

START_WITH = {"rounds": 0, "notes": []}


def a_thread_waiting_for_its_verdict(database: Path, effects: Path) -> None:
    with SqliteStore(database) as store:
        graph = orders.one_question(store, orders.World(effects))
        result = graph.invoke(START_WITH, thread="order-7")
        assert [question.value for question in result.interrupts] == ["may I charge?"]


def test_of_ten_processes_that_answer_at_once_one_wins_and_the_effect_happens_once(
    start: StartWorker, database: Path, effects: Path
) -> None:
    a_thread_waiting_for_its_verdict(database, effects)
    people = [f"person-{number}" for number in range(10)]
    workers = [start("resume") for _ in people]
    for worker in workers:
        worker.wait_for("ready")
    for worker, person in zip(workers, people, strict=True):
        worker.tell("go", person)
    outcomes = [worker.outcome() for worker in workers]

    winners = [outcome for outcome in outcomes if "ok" in outcome]
    refusals = [outcome for outcome in outcomes if "error" in outcome]
    assert [winner["ok"] for winner in winners] == [["yes", "charged 5"]]
    assert len(refusals) == 9
    assert {refusal["error"] for refusal in refusals} <= {"ThreadBusy", "AlreadyAnswered"}
    winner = people[outcomes.index(winners[0])]
    for refusal in refusals:
        if refusal["error"] == "AlreadyAnswered":
            assert f"answered by {winner}" in refusal["message"]
        else:
            assert "order-7" in refusal["message"]
    assert [effect.name for effect in orders.World(effects).effects()] == ["charge"]


def test_the_thread_is_whole_for_everybody_after_the_rush(
    start: StartWorker, database: Path, effects: Path
) -> None:
    a_thread_waiting_for_its_verdict(database, effects)
    workers = [start("resume") for _ in range(3)]
    for worker in workers:
        worker.wait_for("ready")
    for worker in workers:
        worker.tell("go", "somebody")
    for worker in workers:
        worker.outcome()
    with SqliteStore(database) as store:
        state = orders.one_question(store, orders.World(effects)).get_state("order-7")
    assert state.values["notes"] == ["yes", "charged 5"]
    assert (state.next, state.interrupts) == ((), ())


def test_a_thread_that_a_living_process_runs_is_busy_for_another_process(
    start: StartWorker,
) -> None:
    runner = start("hold")
    runner.wait_for("inside")
    refused = start("hold").outcome()
    assert refused["error"] == "ThreadBusy"
    assert "order-7" in refused["message"]
    runner.tell("done")
    assert runner.outcome() == {"ok": ["opened", "done"]}


def test_a_process_that_waits_for_a_busy_thread_gets_what_the_first_one_finished(
    start: StartWorker, effects: Path
) -> None:
    runner = start("hold")
    runner.wait_for("inside")
    patient = start("hold_patiently")
    patient.wait_for("asking")
    runner.tell("done")
    assert runner.outcome() == patient.outcome() == {"ok": ["opened", "done"]}
    assert Counter(effect.name for effect in orders.World(effects).effects()) == {"gate": 1}
