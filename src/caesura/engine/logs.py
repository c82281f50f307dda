"""What the engine tells `logging`, under the name "caesura".

Promises: each record carries the ids of its thread, its step and its task as attributes
(`caesura_thread`, `caesura_step`, `caesura_task`), so that a log can be searched by them; nothing
is put together for a level that nobody listens to; payloads and answers are never told.
Used by `engine.loop` and by what it calls.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caesura.engine.calls import Work
    from caesura.engine.scopes import Scope

LOG = logging.getLogger("caesura")


def ids_of(work: Work, index: int | None = None) -> dict[str, Any]:
    """The attributes of a record about a graph at work, or about one of its tasks."""
    ids: dict[str, Any] = {
        "caesura_thread": work.call.ledger.thread,
        "caesura_step": work.run.step,
    }
    if index is not None:
        ids["caesura_task"] = work.id_of(index)
    return ids


def tell_step(work: Work) -> None:
    """A superstep is over."""
    if LOG.isEnabledFor(logging.DEBUG):
        run = work.run
        after = ", ".join(repr(task.node) for task in run.tasks) or "nothing: it is finished"
        LOG.debug(
            "thread %r: %s %r is at step %d, next is %s",
            work.call.ledger.thread,
            "graph" if work.parent is None else "the graph inside,",
            work.plan.name,
            run.count,
            after,
            extra=ids_of(work),
        )


def tell_waiting(scope: Scope) -> None:
    """A task waits for people."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    work = scope.work
    open_ones = work.questions_of(scope.index)
    LOG.info(
        "thread %r: node %r waits for %d answer(s): %s",
        work.call.ledger.thread,
        scope.node,
        len(open_ones),
        ", ".join(question.key or question.id for question in open_ones),
        extra=ids_of(work, scope.index),
    )


def tell_failure(work: Work, index: int, error: Exception) -> None:
    """A task has failed for good, until somebody tries it again."""
    LOG.info(
        "thread %r: node %r failed with %r",
        work.call.ledger.thread,
        work.run.tasks[index].node,
        error,
        extra=ids_of(work, index),
    )
