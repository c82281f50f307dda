"""Going back: an older step of a thread becomes its head again.

Promises: nothing is overwritten; the step gone back to is copied to the end of the log, whole, with
empty journals, so its effects will run again. Called by `engine.inputs` and `engine.updates`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from caesura.core.decide import open_questions
from caesura.core.events import Rewound, Withdrawn
from caesura.core.history import journal_key
from caesura.core.view import RunView, ThreadView
from caesura.engine.families import task_of
from caesura.engine.naming import ordinal_of
from caesura.engine.past import Past
from caesura.errors import UnknownStep

if TYPE_CHECKING:
    from caesura.engine.calls import Call

Kind = Literal["replay", "copy", "update"]


def is_head(view: ThreadView, step: str) -> bool:
    """Whether a step's id names a step at hand: then it is no time travel."""
    ordinal = ordinal_of(view.birth, step)
    return any(run.step == ordinal for run in view.runs.values())


def go_back(call: Call, step: str, kind: Kind = "replay") -> None:
    """Stage that the thread goes back to a step."""
    ledger = call.ledger
    ordinal = ordinal_of(ledger.view.birth, step) if ledger.exists else None
    if ordinal is None:
        raise UnknownStep(ledger.thread, step)
    past = Past.of(call.graph, ledger).view_at(ordinal)
    if past is None:
        raise UnknownStep(ledger.thread, step)
    view, run = past
    for question in open_questions(ledger.view):
        ledger.stage(Withdrawn(question, "the thread went back to an earlier step", call.by))
    ledger.stage(Rewound(ordinal, kind, cleaned(view, run), run=run.id))


def cleaned(view: ThreadView, run: RunView) -> ThreadView:
    """A view as it was when a step of this run began: nothing performed, asked or finished in it.

    The tasks that lead to a child's step keep their journals: they have not gone back.
    """
    chain = {run.id}
    journals = {}
    child = run
    while (found := task_of(view, child)) is not None:
        parent, index = found
        key = journal_key(parent, index, parent.tasks[index])
        journal = view.journals[key]
        journal.questions = []
        journal.children = {k: v for k, v in journal.children.items() if v in chain}
        journals[key] = journal
        chain.add(parent.id)
        child = parent
    view.journals, view.questions = journals, {}
    view.runs = {key: kept for key, kept in view.runs.items() if key in chain or key == 0}
    for task in run.tasks:
        task.error = task.origin = None
        task.attempts, task.stale = 0, False
    return view
