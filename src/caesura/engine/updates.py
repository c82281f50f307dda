"""Change a thread from outside: as if one of its nodes had just written.

Promises: an update is a step of its own. Tasks at hand that the update leads to again are carried
over: what has finished is not repeated, what waits keeps its journal and its questions. Tasks that
it leads past are forgotten, and their questions withdrawn where people can see it.
Called by the facade for `update_state` and `bulk_update_state`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from caesura.core.control import COPY, END, INPUT, START, Command, StateUpdate
from caesura.core.decide import has_failed
from caesura.core.events import Retried, Updated, Withdrawn
from caesura.core.journals import journal_key
from caesura.core.state import (
    apply_writes,
    known_values,
    read_input,
    read_update,
    start_values,
)
from caesura.engine.calls import PREVIOUS, Call
from caesura.engine.carrying import Place, carry_over, plan_from
from caesura.engine.inputs import open_here, start_event
from caesura.engine.naming import step_id, task_id
from caesura.engine.past import questions_below
from caesura.engine.returns import read_command
from caesura.engine.rewinding import go_back, is_head
from caesura.engine.snapshots import Album
from caesura.errors import (
    AuthoringError,
    InvalidUpdateError,
    UnknownNode,
    UnknownStep,
    UnknownThread,
)

if TYPE_CHECKING:
    from caesura.core.view import RunView
    from caesura.engine.performer import Performer


async def update(
    call: Call,
    performer: Performer,
    supersteps: Sequence[Sequence[StateUpdate]],
    step: str | None,
    namespace: str,
) -> int:
    """Stage the updates, one step for each superstep; the run that was updated."""
    _check(supersteps)
    copies = any(given.as_node == COPY for given in supersteps[0])
    if step is not None and (copies or not is_head(call.ledger.view, step)):
        kind: Any = "copy" if copies else "update"
        run_id = await performer.store(lambda: go_back(call, step, kind))
        supersteps = supersteps[1:] if copies else supersteps
    else:
        run_id = await performer.store(lambda: _run_named(call, namespace))
    for superstep in supersteps:
        await _one(call, performer, list(superstep), run_id)
    return run_id


def _check(supersteps: Sequence[Sequence[StateUpdate]]) -> None:
    if not supersteps or not all(supersteps):
        raise _NothingGiven("An update needs at least one StateUpdate in every superstep.")
    for superstep in supersteps:
        special = [given.as_node for given in superstep if given.as_node in (COPY, INPUT, END)]
        if special and len(superstep) > 1:
            raise InvalidUpdateError(
                f"as_node={special[0]!r} stands alone in its superstep; give the other updates "
                f"one of their own."
            )


def _run_named(call: Call, namespace: str) -> int:
    """The run of the namespace that a config names."""
    if not namespace:
        return 0
    run = Album(call.graph, call.ledger, namespace).run()
    if run is None or run.finished:
        raise UnknownStep(call.ledger.thread, namespace)
    return run.id


async def _one(call: Call, performer: Performer, updates: list[StateUpdate], run_id: int) -> None:
    as_node = updates[0].as_node
    if as_node == COPY:
        await performer.store(lambda: _copy_head(call, run_id))
    elif as_node == INPUT:
        _input(call, updates[0].values, run_id)
    elif as_node == END:
        _end(call, run_id)
    else:
        await _as_nodes(call, performer, updates, run_id)


def _copy_head(call: Call, run_id: int) -> None:
    view = call.ledger.view
    if run_id not in view.runs:
        raise UnknownThread(call.ledger.thread)
    go_back(call, step_id(view.birth, view.runs[run_id].step), "copy")


def _input(call: Call, values: Any, run_id: int) -> None:
    """The input waits; the next call goes on with it."""
    open_here(call)
    start = start_event(_plan(call, run_id), values, call.ids.new)
    start.run, start.next, start.joins, start.deferred = run_id, None, None, None
    _withdraw_all_but(call, run_id, set())
    call.ledger.stage(start)


def _end(call: Call, run_id: int) -> None:
    run = call.ledger.view.runs.get(run_id)
    if run is None:
        raise UnknownThread(call.ledger.thread)
    writes = [w for task in run.tasks if task.node != START for w in task.writes or ()]
    _withdraw_all_but(call, run_id, set())
    call.ledger.stage(Updated(run_id, writes, [], [], joins=run.joins or None, by=call.by))


# ----------------------------------------------------------------------------------------- as nodes
async def _as_nodes(
    call: Call, performer: Performer, updates: list[StateUpdate], run_id: int
) -> None:
    ledger, plan = call.ledger, _plan(call, run_id)
    run = ledger.view.runs.get(run_id)
    places = [_place(call, run, given, run_id) for given in updates]
    if run is not None and has_failed(ledger.view):
        ledger.stage(Retried(by=call.by))
    open_here(call)
    writes = [write for place in places for write in place.writes]
    values = dict(
        start_values(plan.state)
        if run is None or run.step < 0
        else known_values(plan.state, run.values)
    )
    apply_writes(plan.state, values, writes)
    is_default = all(given.as_node is None for given in updates)
    planning = await plan_from(call, performer, plan, run, places, values)
    kept, tasks = carry_over(plan, run, planning, places, is_default=is_default)
    _withdraw_all_but(call, run_id, kept)
    event = Updated(
        run_id,
        writes,
        tasks,
        [[place.node, place.writes, place.at] for place in places],
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


def _place(call: Call, run: RunView | None, given: StateUpdate, run_id: int) -> Place:
    plan = _plan(call, run_id)
    node = given.as_node if given.as_node is not None else _last_writer(call, plan, run)
    if node not in plan.nodes and node != START:
        raise _UnknownWriter(
            node, where="update_state(as_node=...)", known=tuple(plan.nodes), verb="names"
        )
    index = _index_of(call, run, given.task_id, node)
    if plan.state.bare and PREVIOUS in plan.state.channels:
        return Place(node, [{PREVIOUS: given.values}], [], index)
    if isinstance(given.values, Command):
        writes, goto = read_command(plan, node, given.values, call.ids.new)
        return Place(node, writes, goto, index)
    if node == START:
        update = read_input(
            plan.state, plan.input, given.values, where="update_state", new_id=call.ids.new
        )
    else:
        update = read_update(plan.state, given.values, "update_state", new_id=call.ids.new)
    return Place(node, [update] if update is not None else [], [], index)


def _index_of(call: Call, run: RunView | None, task: str | None, node: str) -> int | None:
    """Which task at hand a caller names."""
    if task is None or run is None:
        return None
    birth = call.ledger.view.birth
    for index, at_hand in enumerate(run.tasks):
        if at_hand.node == node and task_id(birth, run.step, index) == task:
            return index
    return None


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


def _withdraw_all_but(call: Call, run_id: int, kept: set[str]) -> None:
    """Close the questions of tasks that the update leads past."""
    view = call.ledger.view
    run = view.runs.get(run_id)
    gone: list[str] = []
    for index, task in enumerate(run.tasks if run is not None else ()):
        assert run is not None
        key = journal_key(run, index, task)
        if key not in kept:
            gone += [question.id for question in questions_below(view, key)]
    for question in gone:
        call.ledger.stage(Withdrawn(question, "the thread was moved on past it", call.by))


class _NothingGiven(AuthoringError, ValueError):
    """An update without any update."""


class _UnknownWriter(InvalidUpdateError, UnknownNode):
    """An update as a node that the graph does not have."""
