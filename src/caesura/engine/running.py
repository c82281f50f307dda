"""The runs of this process: who is at work on which thread, and how all of them are asked to stop.

Promises: an owner that is not listed here and carries this process's identity has ended, whatever
its lease says; waiting for a busy thread wakes up as soon as a run of this process ends.
Does not promise: anything about other processes; `engine.leases` asks the host about those.
Called by `engine.leases` and the facade; `drain` is public.
"""

from __future__ import annotations

import itertools
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesura.engine.calls import Call

_changed = threading.Condition()
_active: dict[str, Call] = {}
_numbers = itertools.count(1)


def owner_name(identity: str) -> str:
    """What a new run writes into its lease: this process, and which run of it."""
    return f"{identity}/{next(_numbers)}"


def enlist(owner: str, call: Call) -> None:
    with _changed:
        _active[owner] = call


def dismiss(owner: str) -> None:
    with _changed:
        if _active.pop(owner, None) is not None:
            _changed.notify_all()


def is_at_work(owner: str) -> bool:
    return owner in _active


def wait_for_a_change(seconds: float) -> None:
    """Until a run of this process has ended, or for so long."""
    with _changed:
        _changed.wait(seconds)


def calls() -> list[Call]:
    """Every call that is at work on a thread now."""
    with _changed:
        return list(_active.values())


def drain(timeout: float | None = None, *, graph: object = None) -> bool:
    """Stop the running threads of this process at their next boundary, and wait until they have.

    Their calls raise `GraphDrained`; the threads go on with `invoke(None)`. False when some were
    still at work after `timeout` seconds. `graph` limits it to the threads of one graph.
    """
    import time

    give_up = None if timeout is None else time.monotonic() + timeout
    with _changed:
        while mine := [c for c in _active.values() if graph is None or c.graph is graph]:
            for call in mine:
                call.drained = True
            left = None if give_up is None else give_up - time.monotonic()
            if left is not None and left <= 0:
                return False
            _changed.wait(left)
    return True


def _in_a_forked_child() -> None:
    global _changed  # noqa: PLW0603 - a child process has a condition of its own
    _changed = threading.Condition()
    _active.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_forked_child)
