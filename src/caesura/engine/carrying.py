"""What an update from outside leads to: the next tasks, and which of those at hand go on.

Promises: edges and joins are asked as if the nodes had just finished, on the new state. Tasks at
hand that the update leads to again keep their journals and what they have finished.
Called by `engine.updates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.control import START
from caesura.core.decide import Ended, Planning, plan_next
from caesura.core.parts import Carried, Target
from caesura.core.state import view_for
from caesura.core.tasks import carried_tasks
from caesura.engine.context import Runtime
from caesura.engine.returns import read_routed

if TYPE_CHECKING:
    from caesura.core.plan import Plan
    from caesura.core.view import RunView
    from caesura.engine.calls import Call
    from caesura.engine.performer import Performer


class Place(NamedTuple):
    """A node as which is written, what, and where it leads beside its edges."""

    node: str
    writes: list[dict[str, Any]]
    goto: list[Target]
    at: int | None  # the task at hand that it is, where the caller named one


async def plan_from(
    call: Call,
    performer: Performer,
    plan: Plan,
    run: RunView | None,
    places: list[Place],
    values: dict[str, Any],
) -> Planning:
    """What follows the nodes as which was written, on the new state."""
    ended = []
    for place in places:
        goto = list(place.goto)
        for branch in plan.branches.get(place.node, ()):
            view = view_for(branch.schema, values, call.limit)
            context = copy_context()

            async def route(branch: Any = branch, view: Any = view, context: Any = context) -> Any:
                given = _injected(call, branch.inject)
                if branch.is_async:
                    return await performer.run_coroutine(
                        lambda: branch.path(view, **given), context, lambda t: None, None
                    )
                return await performer.call(lambda: branch.path(view, **given), context, None)

            goto += read_routed(plan, place.node, branch, await route())
        ended.append(Ended(place.node, goto))
    deferred = list(run.deferred) if run is not None else []
    return plan_next(plan, _joins(plan, run, places), deferred, ended)


def _injected(call: Call, names: Sequence[str]) -> dict[str, Any]:
    """What an edge's function asks for by name, as far as there is any of it outside of a run."""
    known = {"config": call.settings, "runtime": Runtime(), "writer": lambda chunk: None}
    return {name: known.get(name) for name in names}


def _joins(plan: Plan, run: RunView | None, places: list[Place]) -> dict[str, list[str]]:
    """What the joins have seen; one whose node is at hand stays complete until that node runs."""
    if run is None:
        return {}
    joins, written = dict(run.joins), {place.node for place in places}
    at_hand = {task.node for task in run.tasks if not task.sent} - written
    by_edge = {end for ends in plan.edges.values() for end in ends}
    for join in plan.joins:
        came_by_it = not join.sources.isdisjoint(run.ran) or join.target not in by_edge
        if join.target in at_hand and came_by_it:
            joins[join.name] = sorted(join.sources)
    return joins


def carry_over(
    plan: Plan, run: RunView | None, planning: Planning, places: list[Place], *, is_default: bool
) -> tuple[set[str], list[Any]]:
    """The tasks of the new step: those at hand go on where the update leads to them again."""
    if run is None or not run.tasks:
        return set(), list(planning.next)
    if run.tasks[0].node == START:
        return set(), list(planning.next)
    at_hand = [task for task in carried_tasks(run) if isinstance(task, Carried)]
    expected = _expected(plan, places)
    tasks: list[Any] = []
    for target in planning.next:
        same = next((t for t in at_hand if t.node == target and not t.sent), None)
        if same is not None:
            at_hand.remove(same)
        tasks.append(target if same is None else same)
    if is_default:
        # What a `Command` or a `Send` brought here is no consequence of an edge: it stays.
        tasks += [t for t in at_hand if t.sent or t.failed is not None or t.node not in expected]
    kept = {f"{t.origin[0]}.{t.origin[1]}" for t in tasks if isinstance(t, Carried)}
    return kept, tasks


def _expected(plan: Plan, places: list[Place]) -> set[str]:
    """Where the edges of these nodes can lead."""
    ends: set[str] = set()
    for place in places:
        ends.update(plan.edges.get(place.node, ()))
        for join in plan.joins_by_source.get(place.node, ()):
            ends.add(join.target)
        for branch in plan.branches.get(place.node, ()):
            ends.update(branch.ends if branch.ends is not None else plan.nodes)
    return ends
