"""An input: what a thread, or a child graph within it, starts with or starts over with.

Promises: everything is checked before anything is staged. Called by `engine.beginnings`,
`engine.children` and `engine.updates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.control import START
from caesura.core.decide import open_questions, plan_first
from caesura.core.events import (
    Opened,
    Started,
    Withdrawn,
)
from caesura.core.state import (
    apply_writes,
    check_input,
    known_values,
    read_input,
    start_values,
    tracked,
)
from caesura.engine.answers import close_overdue
from caesura.engine.calls import Beginning, reducers_of

if TYPE_CHECKING:
    from caesura.core.plan import Plan
    from caesura.core.view import RunView
    from caesura.engine.calls import Call


class Wish(NamedTuple):
    """What a caller wants of a thread."""

    value: Any
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    request_id: str | None = None
    step: str | None = None  # an older step to go back to


# ---------------------------------------------------------------------------------------- an input
def start_event(plan: Plan, value: Any, new_id: Callable[[], str], **more: Any) -> Started:
    """A run's first event, or the one with which it starts over."""
    update = read_input(plan.state, plan.input, value, new_id=new_id)
    writes = [update] if update is not None else []
    if START in plan.branches:
        return Started(0, writes, None, **more)
    first = plan_first(plan)
    return Started(0, writes, first.next, first.joins, first.deferred, **more)


def applied(plan: Plan, values: dict[str, Any], writes: list[dict[str, Any]]) -> dict[str, Any]:
    """The state with these writes in it."""
    after = {**start_values(plan.state), **values}
    apply_writes(plan.state, after, writes)
    return after


def keys_of(start: Started) -> frozenset[str]:
    """What an input wrote."""
    return frozenset(key for write in start.writes for key in write)


def give_input(call: Call, wish: Wish) -> bool:
    ledger, plan = call.ledger, call.graph.plan
    view = ledger.view
    breakpoints = None
    if wish.before or wish.after:
        breakpoints = [list(wish.before), list(wish.after)]
    start = start_event(
        plan,
        wish.value,
        call.ids.new,
        request=wish.request_id,
        breakpoints=breakpoints,
        request_digest=digest(call, wish.value) if wish.request_id is not None else None,
        brief=call.durability == "exit",
    )
    values = view.runs[0].values if 0 in view.runs else start_values(plan.state)
    if plan.input.form == "pydantic":
        check_input(plan.input, {**values, **(start.writes[0] if start.writes else {})})
    open_here(call)
    close_overdue(ledger)
    for question in open_questions(view):
        ledger.stage(Withdrawn(question, "a new input took its place", call.by))
    run = view.runs.get(0)
    call.beginning = Beginning("input", keys_of(start), (values, view.steps, _step_before(run)))
    given, start.writes = start.writes, tracked(plan.state, start.writes)
    ledger.stage(start, prepared=applied(plan, values, given) if start.next is not None else None)
    view.runs[0].tasks[0].writes = given if start.next is None else view.runs[0].tasks[0].writes
    forget_lost_keys(call)
    return True


def _step_before(run: RunView | None) -> int | None:
    """The step that the input follows."""
    if run is None:
        return None
    return run.step if run.follows is None else run.follows


def open_here(call: Call) -> None:
    """The first event of a thread."""
    ledger = call.ledger
    if not ledger.exists and not ledger.view.birth:
        plan = call.graph.plan
        ledger.stage(Opened(call.ids.new(), plan.name, reducers_of(plan)))


def forget_lost_keys(call: Call) -> None:
    run, state = call.ledger.view.runs[0], call.graph.plan.state
    if any(key not in state.channels for key in run.values):
        run.values = known_values(state, run.values)


def digest(call: Call, value: Any) -> str:
    from caesura.engine.fingerprint import fingerprint

    return fingerprint(value, call.ledger.codec.registry)
