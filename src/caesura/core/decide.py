"""Decide what a run does next, from its plan and its view, and act on nothing.

Promises: the same plan and view give the same decision; order is by rule (edge-triggered tasks by
node name, then `Send`s as issued), never by completion.
Called by `engine.loop` and by everything that shows what would happen next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from caesura.core.control import END, START
from caesura.core.journals import journal_key
from caesura.core.parts import Handling, Planned, Sent, Target
from caesura.core.plan import Plan
from caesura.core.view import RunView, TaskView, ThreadView

Names = frozenset[str] | Literal["*"]


class Ended(Struct, frozen=True):
    """A finished task, as far as planning cares."""

    node: str
    goto: Sequence[Target]
    handling: Handling | None = None  # it failed; only its error handler goes on


class Planning(Struct, frozen=True):
    """The tasks of the next step, and what still waits to be complete."""

    next: list[Planned]
    joins: dict[str, list[str]] | None
    deferred: list[str] | None


_NOTHING = Planning([], None, None)


def plan_next(
    plan: Plan, joins: dict[str, list[str]], deferred: Sequence[str], ended: Sequence[Ended]
) -> Planning:
    """What follows a superstep whose tasks have all ended."""
    nodes = plan.nodes
    if len(ended) == 1 and not joins and not deferred:
        short = _plan_after(plan, ended[0])
        if short is not None:
            return short
    names: set[str] = set()
    others: list[Planned] = []
    waiting = dict(joins)
    for task in ended:
        if task.handling is not None:
            others.append(task.handling)
        else:
            names.update(plan.edges.get(task.node, ()))
            for join in plan.joins_by_source.get(task.node, ()):
                seen = {*waiting.get(join.name, ()), task.node}
                waiting[join.name] = sorted(seen)
        for target in task.goto:
            if type(target) is Sent:
                others.append(target)
            else:
                names.add(str(target))
    names.discard(END)
    if waiting:
        _complete_joins(plan, waiting, names)
    held_back = list(deferred)
    if any(nodes[name].defer for name in names if name in nodes):
        held_back += sorted(n for n in names if nodes[n].defer and n not in held_back)
        names -= set(held_back)
    if not names and not others and held_back:
        names, held_back = set(held_back), []
    return Planning([*sorted(names), *others], waiting or None, held_back or None)


def _plan_after(plan: Plan, task: Ended) -> Planning | None:
    """The same for the most usual case: one task, and at most one way on from it."""
    names = plan.edges.get(task.node, ())
    ways = (*names, *task.goto)
    if len(ways) > 1 or task.handling is not None or task.node in plan.joins_by_source:
        return None
    if not ways or ways[0] == END:
        return _NOTHING
    way = ways[0]
    if type(way) is str and (known := plan.nodes.get(way)) is not None and known.defer:
        return None
    return Planning([way], None, None)


def _complete_joins(plan: Plan, waiting: dict[str, list[str]], names: set[str]) -> None:
    for join in plan.joins:
        if join.name in waiting and join.sources <= set(waiting[join.name]):
            del waiting[join.name]
            names.add(join.target)


def plan_first(plan: Plan) -> Planning:
    """What follows the input of a graph whose entry has no conditional edges."""
    return plan_next(plan, {}, (), (Ended(START, ()),))


# ------------------------------------------------------------------------- what holds a step
def breakpoints(compiled: Names, *given: Sequence[str]) -> Names:
    """All names that hold, of the graph, the call and the thread together."""
    if not any(given):
        return compiled
    if compiled == "*" or any("*" in names for names in given):
        return "*"
    return compiled.union(*given)


def held_by(
    plan: Plan, view: ThreadView, run: RunView
) -> tuple[Literal["before", "after"], list[str]] | None:
    """The breakpoint that holds the step at hand, if one does and was not yet passed."""
    if run.passed or run.source != "loop" or not run.tasks:
        return None
    compiled = plan.interrupt_after or plan.interrupt_before
    if not (compiled or run.after or run.before or view.after or view.before):
        return None
    top = run.id == 0
    after = breakpoints(plan.interrupt_after, run.after, view.after if top else ())
    if after and (nodes := [n for n in run.ran if after == "*" or n in after]):
        return "after", nodes
    before = breakpoints(plan.interrupt_before, run.before, view.before if top else ())
    if before and (nodes := [t.node for t in run.tasks if before == "*" or t.node in before]):
        return "before", nodes
    return None


# ------------------------------------------------------------------------------------ what is ready
def is_open(view: ThreadView, run: RunView, index: int) -> bool:
    """Whether this task waits for an answer to one of its own questions."""
    journal = view.journals.get(journal_key(run, index, run.tasks[index]))
    return journal is not None and any(q.status == "open" for q in journal.questions)


def is_finished(task: TaskView) -> bool:
    """Whether a task and its conditional edges are over."""
    return task.writes is not None and task.goto is not None


def is_runnable(view: ThreadView, run: RunView, index: int) -> bool:
    """Whether running this task now could get anywhere."""
    task = run.tasks[index]
    if task.error is not None or is_finished(task):
        return False
    if task.stale:
        return True
    journal = view.journals.get(journal_key(run, index, task))
    if journal is None:
        return True
    if any(q.status == "open" for q in journal.questions):
        return False
    children = [view.runs[c] for c in journal.children.values() if c in view.runs]
    return all(child.finished or can_go_on(view, child) for child in children)


def can_go_on(view: ThreadView, run: RunView) -> bool:
    """Whether a run has anything to do now."""
    if run.held is not None or run.error is not None:
        return False
    if not run.tasks or all(is_finished(t) for t in run.tasks):
        return True
    return any(is_runnable(view, run, i) for i in range(len(run.tasks)))


def has_failed(view: ThreadView) -> bool:
    """Whether anything waits to be tried again."""
    return any(run.error or any(t.error for t in run.tasks) for run in view.runs.values())


Status = Literal["running", "waiting", "held", "done", "failed", "suspended", "cancelled"]


def status_of(view: ThreadView) -> Status:
    """What a list of threads says of this one while nobody runs it."""
    root = view.runs.get(0)
    if view.stopped == "cancel":
        return "cancelled"
    if root is None or (root.step >= 0 and not root.tasks):
        return "done"
    if has_failed(view):
        return "failed"
    if view.stopped == "suspend":
        return "suspended"
    if can_go_on(view, root):
        return "suspended"
    if any(run.held for run in view.runs.values()) and not open_questions(view):
        return "held"
    return "waiting"


def open_questions(view: ThreadView) -> list[str]:
    """Ids of the questions that wait for an answer, oldest first."""
    found: list[str] = []
    for question, key in view.questions.items():
        journal = view.journals.get(key)
        asked = journal.questions if journal else ()
        found += [question for a in asked if a.question.id == question and a.status == "open"]
    return found
