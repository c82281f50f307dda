"""Real processes on one SQLite file: started, spoken to, killed, and always reaped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.behaviour.processes.workers import StartWorker, Worker


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.db"


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    return tmp_path / "effects.txt"


@pytest.fixture
def start(database: Path, effects: Path) -> Iterator[StartWorker]:
    """Start a worker process on this test's database: `start("resume")`."""
    workers: list[Worker] = []

    def start_one(story: str, *more: object) -> Worker:
        worker = Worker(story, str(database), str(effects), *map(str, more))
        workers.append(worker)
        return worker

    yield start_one
    for worker in workers:
        worker.dispose()
