"""The tasks of a step: as they stand when it begins, and as a later step takes them over.

Used by `core.history`, `core.decide` and by whoever plans steps from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from caesura.core.journals import journal_key
from caesura.core.parts import Carried, Handling, Planned, Sent
from caesura.core.view import RunView, TaskView


def planned_tasks(planned: Sequence[Planned]) -> list[TaskView]:
    """Tasks as they stand when their step begins."""
    return [TaskView(node=p) if type(p) is str else _planned_task(p) for p in planned]


def _planned_task(planned: Planned) -> TaskView:
    match planned:
        case Sent(node=node, arg=arg, timeout=timeout):
            return TaskView(node=node, sent=True, arg=arg, timeout=timeout)
        case Carried(node=node):
            return TaskView(
                node=node,
                sent=planned.sent,
                arg=planned.arg,
                timeout=planned.timeout,
                origin=planned.origin,
                writes=planned.writes,
                goto=planned.goto,
                commanded=planned.commanded,
                handled=planned.handled,
                failed=planned.failed,
                failure=planned.failure,
                stale=planned.writes is None,
            )
        case Handling(node=node, failed=failed, error=error):
            return TaskView(node=node, failed=failed, failure=error)
        case _:
            return TaskView(node=str(planned))


def carried_tasks(run: RunView) -> list[Planned]:
    """The tasks at hand as a new step takes them over: with journals and what they finished."""
    found: list[Planned] = []
    for index, task in enumerate(run.tasks):
        step, _, place = journal_key(run, index, task).partition(".")
        found.append(
            Carried(
                task.node,
                [int(step), int(place)],
                writes=task.writes,
                goto=task.goto,
                sent=task.sent,
                arg=task.arg,
                timeout=task.timeout,
                commanded=task.commanded,
                handled=task.handled,
                failed=task.failed,
                failure=task.failure,
            )
        )
    return found
