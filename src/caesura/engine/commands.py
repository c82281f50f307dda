"""What a call begins with that brings no input: a command, or nothing new.

Promises: everything is checked before anything is staged. A command's answers come first, then its
update and where it goes; then whatever was held or had failed goes on.
Called by `engine.inputs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caesura.core.control import START, UNSET, Command
from caesura.core.decide import can_go_on, open_questions
from caesura.core.events import Answered, BreakpointsSet, Given, Retried, Updated, WentOn
from caesura.core.parts import Target
from caesura.core.state import read_updates
from caesura.engine.answers import answers_in, close_overdue
from caesura.engine.calls import Beginning
from caesura.engine.inputs import Wish, forget_lost_keys, keys_of, open_here, start_event
from caesura.engine.returns import targets
from caesura.errors import EmptyInputError, NodeVanished, UnknownNode

if TYPE_CHECKING:
    from caesura.core.plan import Plan
    from caesura.core.view import RunView
    from caesura.engine.calls import Call


def go_on(call: Call, wish: Wish) -> bool:
    ledger = call.ledger
    view = ledger.view
    root = view.runs.get(0)
    if not ledger.exists or root is None:
        raise EmptyInputError(
            f"Thread {ledger.thread!r} has nothing to go on with: it was never started. Give it an "
            f"input."
        )
    check_nodes(call)
    forget_lost_keys(call)
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


# --------------------------------------------------------------------------------- a command
def command(call: Call, wish: Wish, given: Command[Any]) -> bool:
    ledger, view = call.ledger, call.ledger.view
    if given.graph is not None:
        raise UnknownNode(
            str(given.graph), where="A command to a thread", known=(), verb="names the graph"
        )
    gives = given.resume is not UNSET
    if not ledger.exists and (gives or (given.update is None and not given.goto)):
        raise EmptyInputError(
            f"Thread {ledger.thread!r} was never started, so there is nothing that a Command could "
            f"resume. Give it an input."
        )
    if not ledger.exists:
        return _first_command(call, wish, given)
    check_nodes(call)
    overdue = close_overdue(ledger)
    answers = _answers(call, given, overdue) if gives else []
    changes = _changes(call, given)
    open_here(call)
    ledger.stage(*answers)
    if changes is not None:
        ledger.stage(changes)
    forget_lost_keys(call)
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
    call.beginning = Beginning("input", keys_of(start))
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
