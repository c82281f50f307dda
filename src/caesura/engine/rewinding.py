"""Going back: an older step of a thread becomes its head again.

Promises: nothing is overwritten; the step gone back to is copied to the end of the log, whole, with
empty journals, so its effects will run again. Called by `engine.inputs` and `engine.updates`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from caesura.core.decide import open_questions
from caesura.core.events import Rewound, Withdrawn
from caesura.core.journals import callers, journal_key
from caesura.core.view import RunView, ThreadView
from caesura.engine.naming import ordinal_of
from caesura.engine.past import Past
from caesura.errors import UnknownStep

if TYPE_CHECKING:
    from caesura.engine.calls import Call
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger

Kind = Literal["replay", "copy", "update"]

_log = logging.getLogger("caesura")


def is_head(view: ThreadView, step: str) -> bool:
    """Whether a step's id names a step at hand: then it is no time travel."""
    ordinal = ordinal_of(view.birth, step)
    return any(run.step == ordinal and not run.finished for run in view.runs.values())


def go_back(call: Call, step: str, kind: Kind = "replay") -> int:
    """Stage that the thread goes back to a step; the run whose step it is."""
    ledger = call.ledger
    ordinal, view, run = step_of(call.graph, ledger, step)
    for question in open_questions(ledger.view):
        ledger.stage(Withdrawn(question, "the thread went back to an earlier step", call.by))
    ledger.stage(Rewound(ordinal, kind, cleaned(view, run), run=run.id))
    _log.info(
        "thread %r: goes back to step %s; effects from there on will run again",
        ledger.thread,
        step,
        extra={"caesura_thread": ledger.thread, "caesura_step": ordinal},
    )
    return run.id


def step_of(graph: CompiledGraph, ledger: Ledger, step: str) -> tuple[int, ThreadView, RunView]:
    """A step by its id: its ordinal, the whole thread as of then, and the run that made it."""
    ordinal = ordinal_of(ledger.view.birth, step) if ledger.exists else None
    past = Past(graph, ledger).view_at(ordinal) if ordinal is not None else None
    if past is None or ordinal is None:
        raise UnknownStep(ledger.thread, step)
    return ordinal, *past


def cleaned(view: ThreadView, run: RunView) -> ThreadView:
    """A view as it was when a step of this run began: nothing performed, asked or finished in it.

    The tasks that lead to a child's step keep their journals: they have not gone back.
    """
    chain = {run.id}
    journals = {}
    for caller, index in reversed(callers(view, run)):
        key = journal_key(caller, index, caller.tasks[index])
        journal = journals[key] = view.journals[key]
        journal.questions = [q for q in journal.questions if q.status != "open"]
        journal.children = {k: v for k, v in journal.children.items() if v in chain}
        chain.add(caller.id)
    view.journals = journals
    view.questions = {q.question.id: key for key in journals for q in journals[key].questions}
    view.runs = {key: kept for key, kept in view.runs.items() if key in chain}
    for task in run.tasks:
        task.error = task.origin = None
        task.attempts, task.stale = 0, False
    return view
