"""Write down how tasks ended.

Promises: what a task gave is recorded as it ends, whatever its siblings do; a result that cannot be
written is a failure of its task alone.
Called by `engine.loop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesura.core.events import Done, Failed
from caesura.core.state import tracked
from caesura.engine.endings import Ending
from caesura.engine.failures import describe
from caesura.engine.logs import tell_failure
from caesura.errors import ParentCommand, RecordTooLarge, UnserializableValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from caesura.engine.calls import Work
    from caesura.engine.chunks import Chunks


def settle_only(work: Work, ending: Ending, chunks: Chunks | None) -> Ending | None:
    """The record of a whole task is part of its step's, when it is the only one."""
    task = work.run.tasks[0]
    if ending.goto is None or ending.handled is not None or task.writes is not None:
        raise_first(settle_all(work, {0: ending}, chunks))
        return None
    if chunks is not None:
        chunks.task_ends(0, ending)
    return ending


def settle_all(work: Work, ended: Mapping[int, Ending], chunks: Chunks | None) -> dict[int, Ending]:
    """Record endings that came together, as one where that can be; what they have become."""
    dones = {index: done for index, e in ended.items() if (done := _done(work, index, e))}
    refused: dict[int, Exception] = {}
    if dones:
        try:
            work.call.ledger.stage(*dones.values())
        except (UnserializableValue, RecordTooLarge):
            refused = _one_by_one(work, dones)
    settled: dict[int, Ending] = {}
    for index, ending in ended.items():
        if index in refused:
            ending = Ending(error=refused[index], attempts=ending.attempts)
        elif index in dones and work.plan.state.untracked:
            work.run.tasks[index].writes = ending.writes  # only the log does without some keys
        if ending.error is not None and ending.handled is None:
            _fail(work, index, ending, ending.error)
        if chunks is not None:
            chunks.task_ends(index, ending)
        settled[index] = ending
    return settled


def _done(work: Work, index: int, ending: Ending) -> Done | None:
    """The event for what a task gave; None: there is nothing new of it."""
    run = work.run
    if ending.writes is None or (run.tasks[index].writes is not None and ending.goto is None):
        return None
    commanded = ending.commanded if ending.goto is None else None
    writes = tracked(work.plan.state, ending.writes)
    return Done(run.step, index, writes, ending.goto, ending.handled, commanded)


def _one_by_one(work: Work, dones: Mapping[int, Done]) -> dict[int, Exception]:
    """What cannot be written together, or at all: which ones are refused."""
    refused: dict[int, Exception] = {}
    for index, done in dones.items():
        try:
            work.call.ledger.stage(done)
        except (UnserializableValue, RecordTooLarge) as error:
            refused[index] = error
    return refused


def _fail(work: Work, index: int, ending: Ending, error: Exception) -> None:
    ledger, run = work.call.ledger, work.run
    ledger.stage(Failed(run.step, index, describe(error), ending.attempts, ending.of_router))
    tell_failure(work, index, error)


def raise_first(endings: Mapping[int, Ending]) -> None:
    """The failure of the first task that failed, in the order of tasks."""
    for _, ending in sorted(endings.items()):
        if ending.error is not None and ending.handled is None:
            raise ending.error
    for _, ending in sorted(endings.items()):
        if ending.leaves is not None:
            raise ParentCommand(ending.leaves.args[0])
