"""What becomes of a task in one call, and the two things that every pass through it begins and ends
with: its scope, and the questions that it leaves.

Used by `engine.tasks` and `engine.routes`; read by `engine.loop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from caesura.core.events import Reread
from caesura.core.journals import journal_key
from caesura.core.parts import ErrorInfo, Target
from caesura.engine.logs import tell_waiting
from caesura.engine.returns import Writes
from caesura.engine.scopes import Scope
from caesura.errors import ParentCommand

if TYPE_CHECKING:
    from caesura.core.view import TaskView
    from caesura.engine.calls import Work


class Ending(Struct, frozen=True):
    """What became of a task in this call."""

    writes: Writes | None = None  # None: its node has not finished
    goto: list[Target] | None = None  # None: its edges have yet to say
    commanded: list[Target] | None = None
    handled: ErrorInfo | None = None
    error: Exception | None = None
    attempts: int = 1
    of_router: bool = False
    leaves: ParentCommand | None = None  # it ends its graph's run with a command to the parent
    after: dict[str, Any] | None = None  # the state with `writes` in it, where it was worked out


WAITS = Ending()


def open_scope(work: Work, index: int, task: TaskView, **more: Any) -> Scope:
    run, view = work.run, work.call.ledger.view
    key = journal_key(run, index, task)
    return Scope(
        work,
        node=task.node,
        step=run.step,
        index=index,
        key=key,
        journal=view.journals.get(key),
        **more,
    )


def pause(scope: Scope, task: TaskView) -> None:
    """A pass ended in waiting: leave what it asked."""
    scope.stage_questions()
    if task.stale:
        scope.work.call.ledger.stage(Reread(scope.step, scope.index))
    tell_waiting(scope)
