"""Ask the functions of a task's conditional edges where to go, once its node is done.

Promises: an edge's function that waits or fails leaves the node's result standing; a later pass
calls only the function again. It sees the state as its own node has left it.
Called by `engine.tasks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from caesura.core.parts import Target
from caesura.core.state import apply_writes, view_for
from caesura.engine.context import injected
from caesura.engine.endings import Ending, open_scope, pause
from caesura.engine.passes import call_anywhere, call_in_place, pass_in_place, pass_through
from caesura.engine.returns import Writes, read_routed
from caesura.engine.scopes import Scope
from caesura.errors import ParentCommand, Suspended

if TYPE_CHECKING:
    from caesura.core.plan import Branch
    from caesura.core.view import TaskView
    from caesura.engine.calls import Work


async def route(
    work: Work, index: int, task: TaskView, writes: Writes, commanded: list[Target]
) -> Ending:
    branches = work.plan.branches.get(task.node)
    if not branches:
        return Ending(writes, commanded)
    scope = open_scope(work, index, task, router=True)
    if not work.performer.on_loop and not any(branch.is_async for branch in branches):
        return route_in_place(scope, task, branches, writes, commanded)
    try:
        goto = await pass_through(scope, lambda: _ask_anywhere(scope, task, branches, writes))
    except (Exception, Suspended) as error:  # noqa: BLE001 - it becomes the task's ending
        return _unfinished(scope, task, writes, commanded, error)
    return Ending(writes, [*commanded, *goto])


def route_in_place(
    scope: Scope,
    task: TaskView,
    branches: tuple[Branch, ...],
    writes: Writes,
    commanded: list[Target],
) -> Ending:
    try:
        goto, after = pass_in_place(scope, lambda: _ask_in_place(scope, task, branches, writes))
    except (Exception, Suspended) as error:  # noqa: BLE001 - it becomes the task's ending
        return _unfinished(scope, task, writes, commanded, error)
    is_only = len(scope.work.run.tasks) == 1
    return Ending(writes, [*commanded, *goto], after=after if is_only else None)


def _unfinished(
    scope: Scope, task: TaskView, writes: Writes, commanded: list[Target], error: BaseException
) -> Ending:
    """The node's work is kept; its edges have yet to say where it leads."""
    ending = Ending(writes, None, commanded, of_router=True)
    if isinstance(error, Suspended):
        pause(scope, task)
        return ending
    if isinstance(error, ParentCommand):
        return replace(ending, leaves=error)
    assert isinstance(error, Exception)
    scope.stage_questions()
    return replace(ending, error=error)


def _ask_in_place(
    scope: Scope, task: TaskView, branches: tuple[Branch, ...], writes: Writes
) -> tuple[list[Target], dict[str, Any]]:
    values, goto = _after(scope.work, writes), []
    for branch in branches:
        args, kwargs = _given(scope, task, branch, values)
        value = call_in_place(scope, branch.path, args, kwargs)
        goto += read_routed(scope.work.plan, scope.node, branch, value)
    return goto, values


async def _ask_anywhere(
    scope: Scope, task: TaskView, branches: tuple[Branch, ...], writes: Writes
) -> list[Target]:
    values, goto = _after(scope.work, writes), []
    for branch in branches:
        args, kwargs = _given(scope, task, branch, values)
        value = await call_anywhere(
            scope, branch.path, args, kwargs, is_async=branch.is_async, patience=None
        )
        goto += read_routed(scope.work.plan, scope.node, branch, value)
    return goto


def _after(work: Work, writes: Writes) -> dict[str, Any]:
    """The state as the task that just ended has left it, without what its siblings wrote."""
    values = work.run.values
    if writes:
        values = dict(values)
        apply_writes(work.plan.state, values, writes)
    return values


def _given(
    scope: Scope, task: TaskView, branch: Branch, values: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    kwargs = injected(branch.inject, scope, task) if branch.inject else {}
    return (view_for(branch.schema, values, scope.work.steps_left),), kwargs
