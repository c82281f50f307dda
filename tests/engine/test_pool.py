"""Jobs start at once, and threads that are not needed go away."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest

from caesura.engine import pool
from caesura.engine.pool import Pool

PATIENCE_S = 10.0  # only a failing test waits in full


def thread_of_a_job(pool: Pool) -> threading.Thread:
    """Run a job and say which thread did it."""
    done, seen = threading.Event(), []

    def job() -> None:
        seen.append(threading.current_thread())
        done.set()

    pool.submit(job)
    assert done.wait(PATIENCE_S)
    return seen[0]


def test_every_job_starts_at_once_however_many_are_running():
    together, met = threading.Barrier(20), []

    def job() -> None:
        met.append(together.wait(PATIENCE_S))

    jobs = Pool()
    for _ in range(19):
        jobs.submit(job)
    together.wait(PATIENCE_S)
    assert together.broken is False


def test_a_thread_that_is_idle_is_used_again():
    jobs = Pool()
    assert len({thread_of_a_job(jobs) for _ in range(100)}) < 100


def test_an_idle_thread_ends_by_itself(monkeypatch):
    monkeypatch.setattr(pool, "IDLE_S", 0.01)
    thread = thread_of_a_job(Pool())
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_job_that_comes_while_a_thread_is_about_to_end_is_done(monkeypatch):
    monkeypatch.setattr(pool, "IDLE_S", 0.0)
    jobs = Pool()
    for _ in range(200):
        thread_of_a_job(jobs)


def test_threads_do_not_keep_the_program_alive():
    assert thread_of_a_job(Pool()).daemon


def test_what_a_job_held_is_let_go_while_its_thread_waits_for_the_next():
    class Held:
        pass

    held, let_go = Held(), threading.Event()
    weakref.finalize(held, let_go.set)

    def job(held: Any = held) -> None:
        """Nothing; but it holds something."""

    Pool().submit(job)
    del held, job
    assert let_go.wait(pool.IDLE_S / 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_starts_with_threads_of_its_own():
    program = (
        "import os, threading\n"
        "from caesura.engine.pool import POOL\n"
        "def done():\n"
        "    event = threading.Event()\n"
        "    POOL.submit(event.set)\n"
        "    return event.wait(10)\n"
        "first = done()\n"
        "while not POOL._idle:\n"
        "    pass\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if done() else 1)\n"
        "print(first, os.waitpid(child, 0)[1], done())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout.strip() == "True 0 True", ended.stderr
