"""What a call begins with: an input, an answer or another command, or nothing new.

Promises: everything is checked before anything is staged; what is refused leaves the thread as it
was. Does not promise: to write; what is staged goes out with the lease that the call takes.
Called by `engine.calling` and `engine.children`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from caesura.core.control import START, UNSET, Command
from caesura.core.decide import can_go_on, open_questions, plan_first
from caesura.core.events import (
    Answered,
    BreakpointsSet,
    Given,
    Opened,
    Retried,
    Started,
    Updated,
    WentOn,
    Withdrawn,
)
from caesura.core.parts import Target
from caesura.core.state import (
    apply_writes,
    check_input,
    known_values,
    read_input,
    read_updates,
    start_values,
    tracked,
)
from caesura.engine.answers import answers_in, close_overdue
from caesura.engine.calls import reducers_of
from caesura.engine.returns import targets
from caesura.engine.rewinding import go_back, is_head
from caesura.errors import (
    EmptyInputError,
    NodeVanished,
    RequestMismatch,
    UnknownNode,
)

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


def prepare(call: Call, wish: Wish) -> bool:
    """Stage what the call begins with; False when there is nothing to write and nothing to run."""
    ledger = call.ledger
    if ledger.exists:
        if wish.request_id is not None and _is_repeated(call, wish):
            wish = wish._replace(value=None, request_id=None)
        if wish.step is not None and not is_head(ledger.view, wish.step):
            is_input = wish.value is not None and not isinstance(wish.value, Command)
            go_back(call, wish.step, "update" if is_input else "replay")
            call.began = "step"
            return _begin(call, wish) or True
    elif wish.step is not None:
        go_back(call, wish.step)  # says that there is no such step
    return _begin(call, wish)


def _begin(call: Call, wish: Wish) -> bool:
    if wish.value is None:
        return _go_on(call, wish)
    if isinstance(wish.value, Command):
        return _command(call, wish, wish.value)
    return _input(call, wish)


def _is_repeated(call: Call, wish: Wish) -> bool:
    known = call.ledger.view.requests.get(wish.request_id or "")
    if known is None:
        return False
    if wish.value is not None and known != _digest(call, wish.value):
        raise RequestMismatch(call.ledger.thread, wish.request_id or "")
    return True


def _digest(call: Call, value: Any) -> str:
    from caesura.engine.fingerprint import fingerprint

    return fingerprint(value, call.ledger.codec.registry)


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


def _input(call: Call, wish: Wish) -> bool:
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
        request_digest=_digest(call, wish.value) if wish.request_id is not None else None,
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
    call.began, call.input_wrote = "input", keys_of(start)
    call.before_input = (values, view.steps, run.step if run is not None else None)
    given, start.writes = start.writes, tracked(plan.state, start.writes)
    ledger.stage(start, prepared=applied(plan, values, given) if start.next is not None else None)
    view.runs[0].tasks[0].writes = given if start.next is None else view.runs[0].tasks[0].writes
    _forget_lost_keys(call)
    return True


def open_here(call: Call) -> None:
    """The first event of a thread."""
    ledger = call.ledger
    if not ledger.exists and not ledger.view.birth:
        plan = call.graph.plan
        ledger.stage(Opened(call.ids.new(), plan.name, reducers_of(plan)))


def _forget_lost_keys(call: Call) -> None:
    run, state = call.ledger.view.runs[0], call.graph.plan.state
    if any(key not in state.channels for key in run.values):
        run.values = known_values(state, run.values)


# ------------------------------------------------------------------------------------- nothing new
def _go_on(call: Call, wish: Wish) -> bool:
    ledger = call.ledger
    view = ledger.view
    root = view.runs.get(0)
    if not ledger.exists or root is None:
        raise EmptyInputError(
            f"Thread {ledger.thread!r} has nothing to go on with: it was never started. Give it an "
            f"input."
        )
    check_nodes(call)
    _forget_lost_keys(call)
    staged = bool(close_overdue(ledger))
    staged |= _release(call)
    if view.stopped is not None and root.tasks:
        ledger.stage(WentOn(0))
        staged = True
    if (wish.before or wish.after) and root.tasks:
        ledger.stage(BreakpointsSet("run", list(wish.before), list(wish.after)))
        staged = True
    return staged or bool(root.tasks and can_go_on(view, root))


def _release(call: Call) -> bool:
    """Let what a breakpoint holds go on, and what failed be tried again."""
    ledger = call.ledger
    held = [run.id for run in ledger.view.runs.values() if run.held is not None]
    for run_id in held:
        ledger.stage(WentOn(run_id))
    return _retry(call) or bool(held)


def _retry(call: Call) -> bool:
    runs = call.ledger.view.runs.values()
    if any(run.error or any(task.error for task in run.tasks) for run in runs):
        call.ledger.stage(Retried(by=call.by))
        return True
    return False


def check_nodes(call: Call) -> None:
    """Refuse to go on where a node that is to run is no more."""
    ledger = call.ledger
    view = ledger.view
    for run in view.runs.values():
        plan = ledger.family.plan(view, run)
        if plan is not None:
            _check_run(call, plan, run)


def _check_run(call: Call, plan: Plan, run: RunView) -> None:
    for task in run.tasks:
        unfinished = task.writes is None or task.goto is None
        if unfinished and task.node != START and task.node not in plan.nodes:
            raise NodeVanished(call.ledger.thread, task.node, tuple(plan.nodes))


# --------------------------------------------------------------------------------------- a command
def _command(call: Call, wish: Wish, command: Command[Any]) -> bool:
    ledger, view = call.ledger, call.ledger.view
    if command.graph is not None:
        raise UnknownNode(
            str(command.graph), where="A command to a thread", known=(), verb="names the graph"
        )
    gives = command.resume is not UNSET
    if not ledger.exists and (gives or (command.update is None and not command.goto)):
        raise EmptyInputError(
            f"Thread {ledger.thread!r} was never started, so there is nothing that a Command could "
            f"resume. Give it an input."
        )
    if not ledger.exists:
        return _first_command(call, wish, command)
    check_nodes(call)
    overdue = close_overdue(ledger)
    answers = _answers(call, command, overdue) if gives else []
    changes = _changes(call, command)
    open_here(call)
    ledger.stage(*answers)
    if changes is not None:
        ledger.stage(changes)
    _forget_lost_keys(call)
    _release(call)
    if wish.before or wish.after:
        ledger.stage(BreakpointsSet("run", list(wish.before), list(wish.after)))
    root = view.runs[0]
    if changes is not None and root.source == "loop" and root.tasks:
        ledger.stage(WentOn(0))
    return True


def _first_command(call: Call, wish: Wish, command: Command[Any]) -> bool:
    """A command without an answer begins a thread: its update is the input."""
    start = start_event(call.graph.plan, {}, call.ids.new)
    start.writes = _writes_of(call, command)
    start.next = [*(start.next or ()), *_goto_of(call, command)]
    if wish.before or wish.after:
        start.breakpoints = [list(wish.before), list(wish.after)]
    open_here(call)
    call.began, call.input_wrote = "input", keys_of(start)
    call.ledger.stage(start)
    return True


def _answers(call: Call, command: Command[Any], overdue: list[str]) -> list[Answered | Given]:
    ledger = call.ledger
    view = ledger.view
    if not open_questions(view) and any(run.held for run in view.runs.values()):
        return [Given(command.resume, call.by)]
    return list(answers_in(ledger, command.resume, call.by, overdue))


def _changes(call: Call, command: Command[Any]) -> Updated | None:
    """The update and the goto of a command, as an update of the thread."""
    view = call.ledger.view
    writes, goto = _writes_of(call, command), _goto_of(call, command)
    if not writes and not goto:
        return None
    run = view.runs.get(0)
    names = {task.node for task in run.tasks if not task.sent} if run is not None else ()
    added: list[Any] = [t for t in goto if not isinstance(t, str) or t not in names]
    return Updated(
        0,
        writes,
        added,
        [],
        joins=(run.joins or None) if run is not None else None,
        deferred=(run.deferred or None) if run is not None else None,
        source="command",
        by=call.by,
    )


def _writes_of(call: Call, command: Command[Any]) -> list[dict[str, Any]]:
    if command.update is None:
        return []
    state = call.graph.plan.state
    return read_updates(state, command.update, "the Command", new_id=call.ids.new)


def _goto_of(call: Call, command: Command[Any]) -> list[Target]:
    if not command.goto:
        return []
    return targets(call.graph.plan, command.goto, "Command(goto=...) of the caller")
