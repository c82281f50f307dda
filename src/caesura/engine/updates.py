"""Change a thread from outside: as if one of its nodes had just written.

Promises: an update is a step of its own. Tasks at hand that the update leads to again are carried
over: what has finished is not repeated, what waits keeps its journal and its questions. Tasks that
it leads past are forgotten, and their questions withdrawn where people can see it.
Called by the facade for `update_state` and `bulk_update_state`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.control import COPY, END, INPUT, START, StateUpdate
from caesura.core.decide import Ended, Planning, plan_next
from caesura.core.events import Updated, Withdrawn
from caesura.core.history import carried_tasks, journal_key
from caesura.core.parts import Carried, Target
from caesura.core.state import (
    apply_writes,
    known_values,
    read_input,
    read_update,
    start_values,
    view_for,
)
from caesura.engine.calls import PREVIOUS, Call
from caesura.engine.inputs import open_here, start_event
from caesura.engine.returns import read_routed
from caesura.engine.rewinding import go_back, is_head
from caesura.errors import InvalidUpdateError, UnknownNode

if TYPE_CHECKING:
    from caesura.core.view import RunView
    from caesura.engine.performer import Performer


class _Place(NamedTuple):
    """A node as which is written, and what."""

    node: str
    writes: list[dict[str, Any]]


async def update(
    call: Call,
    performer: Performer,
    supersteps: Sequence[Sequence[StateUpdate]],
    step: str | None,
    run_id: int,
) -> None:
    """Stage the updates, one step for each superstep."""
    if not supersteps or not all(supersteps):
        raise InvalidUpdateError("An update needs at least one StateUpdate in every superstep.")
    for superstep in supersteps:
        await _one(call, performer, list(superstep), step, run_id)
        step = None


async def _one(
    call: Call, performer: Performer, updates: list[StateUpdate], step: str | None, run_id: int
) -> None:
    special = updates[0].as_node if len(updates) == 1 else None
    if step is not None and (special == COPY or not is_head(call.ledger.view, step)):
        kind: Any = "copy" if special == COPY else "replay"
        await performer.store(lambda: go_back(call, step, kind))
        if special == COPY:
            return
    if special == COPY:
        _copy_head(call)
    elif special == INPUT:
        _input(call, updates[0].values, run_id)
    elif special == END:
        _end(call, run_id)
    else:
        await _as_nodes(call, performer, updates, run_id)


def _copy_head(call: Call) -> None:
    from caesura.engine.naming import step_id

    view = call.ledger.view
    call.ledger.require()
    go_back(call, step_id(view.birth, view.runs[0].step), "copy")


def _input(call: Call, values: Any, run_id: int) -> None:
    open_here(call)
    start = start_event(_plan(call, run_id), values, call.ids.new)
    start.run = run_id
    _withdraw_all_but(call, run_id, set())
    call.ledger.stage(start)


def _end(call: Call, run_id: int) -> None:
    call.ledger.require()
    run = call.ledger.view.runs[run_id]
    writes = [w for task in run.tasks if task.writes is not None for w in task.writes]
    _withdraw_all_but(call, run_id, set())
    call.ledger.stage(Updated(run_id, writes if run.source != "input" else [], [], [], by=call.by))


# ----------------------------------------------------------------------------------------- as nodes
async def _as_nodes(
    call: Call, performer: Performer, updates: list[StateUpdate], run_id: int
) -> None:
    ledger, plan = call.ledger, _plan(call, run_id)
    run = ledger.view.runs.get(run_id)
    places = [_place(call, run, given, run_id) for given in updates]
    open_here(call)
    writes = [write for place in places for write in place.writes]
    values = dict(
        start_values(plan.state)
        if run is None or run.step < 0
        else known_values(plan.state, run.values)
    )
    apply_writes(plan.state, values, writes)
    is_default = all(given.as_node is None for given in updates)
    planning = await _plan_from(call, performer, places, values, run, run_id)
    kept, tasks = _carry_over(plan, run, planning, places, is_default=is_default)
    _withdraw_all_but(call, run_id, kept)
    event = Updated(
        run_id,
        writes,
        tasks,
        [[place.node, place.writes] for place in places if place.node != START],
        joins=planning.joins,
        deferred=planning.deferred,
        by=call.by,
    )
    ledger.stage(event)


def _plan(call: Call, run_id: int) -> Any:
    if run_id == 0:
        return call.graph.plan
    view = call.ledger.view
    return call.ledger.family.plan(view, view.runs[run_id])


def _place(call: Call, run: RunView | None, given: StateUpdate, run_id: int) -> _Place:
    plan = _plan(call, run_id)
    node = given.as_node if given.as_node is not None else _last_writer(call, plan, run)
    if node not in plan.nodes and node != START:
        raise UnknownNode(
            node, where="update_state(as_node=...)", known=tuple(plan.nodes), verb="names"
        )
    if plan.state.bare and PREVIOUS in plan.state.channels:
        return _Place(node, [{PREVIOUS: given.values}])
    if node == START:
        update = read_input(
            plan.state, plan.input, given.values, where="update_state", new_id=call.ids.new
        )
    else:
        update = read_update(plan.state, given.values, "update_state", new_id=call.ids.new)
    return _Place(node, [update] if update is not None else [])


def _last_writer(call: Call, plan: Any, run: RunView | None) -> str:
    """The node that wrote last; where that is not one node, somebody has to say."""
    if run is None or run.step < 0:
        return next(iter(plan.nodes)) if len(plan.nodes) == 1 else START
    ran = list(dict.fromkeys(name for name in run.ran if name in plan.nodes))
    if len(ran) == 1:
        return ran[0]
    if not ran:
        return START
    raise InvalidUpdateError(
        f"Ambiguous update, specify as_node: the nodes {', '.join(map(repr, ran))} wrote last. For "
        f"example update_state(..., as_node={ran[0]!r})."
    )


async def _plan_from(
    call: Call,
    performer: Performer,
    places: list[_Place],
    values: dict[str, Any],
    run: RunView | None,
    run_id: int,
) -> Planning:
    """What follows the nodes as which was written, on the new state."""
    plan = _plan(call, run_id)
    ended = []
    for place in places:
        goto: list[Target] = []
        for branch in plan.branches.get(place.node, ()):
            view = view_for(branch.schema, values, call.limit)
            context = copy_context()

            async def route(branch: Any = branch, view: Any = view, context: Any = context) -> Any:
                if branch.is_async:
                    return await performer.run_coroutine(
                        lambda: branch.path(view), context, lambda t: None, None
                    )
                return await performer.call(lambda: branch.path(view), context, None)

            goto += read_routed(plan, place.node, branch, await route())
        ended.append(Ended(place.node, goto))
    joins = dict(run.joins) if run is not None else {}
    deferred = list(run.deferred) if run is not None else []
    return plan_next(plan, joins, deferred, ended)


def _carry_over(
    plan: Any, run: RunView | None, planning: Planning, places: list[_Place], *, is_default: bool
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


def _expected(plan: Any, places: list[_Place]) -> set[str]:
    """Where the edges of these nodes can lead."""
    ends: set[str] = set()
    for place in places:
        ends.update(plan.edges.get(place.node, ()))
        for join in plan.joins_by_source.get(place.node, ()):
            ends.add(join.target)
        for branch in plan.branches.get(place.node, ()):
            ends.update(branch.ends if branch.ends is not None else plan.nodes)
    return ends


def _withdraw_all_but(call: Call, run_id: int, kept: set[str]) -> None:
    """Close the questions of tasks that the update leads past."""
    view = call.ledger.view
    run = view.runs.get(run_id)
    gone: list[str] = []
    for index, task in enumerate(run.tasks if run is not None else ()):
        assert run is not None
        key = journal_key(run, index, task)
        if key not in kept:
            gone += _open_in(view, key)
    for question in gone:
        call.ledger.stage(Withdrawn(question, "the thread was moved on past it", call.by))


def _open_in(view: Any, key: str) -> list[str]:
    journal = view.journals.get(key)
    if journal is None:
        return []
    found = [a.question.id for a in journal.questions if a.status == "open"]
    for child_id in journal.children.values():
        child = view.runs.get(child_id)
        for index, task in enumerate(child.tasks if child is not None else ()):
            found += _open_in(view, journal_key(child, index, task))
    return found
