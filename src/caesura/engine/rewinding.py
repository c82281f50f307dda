"""Going back: an older step of a thread becomes its head again.

Promises: nothing is overwritten; the step gone back to is copied to the end of the log, whole, with
empty journals, so its effects will run again. An answer that comes along belongs to what the step
had asked: it is given to the same question there, and to no other. Called by `engine.beginnings`
and `engine.updates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from caesura.core.control import Answers
from caesura.core.decide import open_questions
from caesura.core.events import Answered, Asked, Rewound, Withdrawn
from caesura.core.journals import callers, journal_key
from caesura.core.parts import Question
from caesura.core.view import Asking, JournalView, RunView, ThreadView
from caesura.engine.answers import answers_in
from caesura.engine.logs import LOG
from caesura.engine.naming import ordinal_of
from caesura.engine.past import Inquiry, Past
from caesura.errors import NotFound, UnknownStep

if TYPE_CHECKING:
    from caesura.engine.calls import Call
    from caesura.engine.codec import Codec
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger
    from caesura.ports import Store

Kind = Literal["replay", "copy", "update"]


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
    LOG.info(
        "thread %r: goes back to step %s; effects from there on will run again",
        ledger.thread,
        step,
        extra={"caesura_thread": ledger.thread, "caesura_step": ordinal},
    )
    return run.id


@dataclass(frozen=True)
class _Then:
    """What a step had asked, as if all of it were open."""

    view: ThreadView
    thread: str
    store: Store | None
    codec: Codec


def answer_there(call: Call, step: str, run: int, resume: Any) -> None:
    """After going back to a step of a run: stage the answers to what that step had asked."""
    ledger, now = call.ledger, call.clock.now()
    ordinal = ordinal_of(ledger.view.birth, step)
    assert ordinal is not None
    asked = {i.question.id: i for i in Past(call.graph, ledger).asked_at(ordinal)}
    if not asked:
        raise NotFound(
            f"Step {step} of thread {ledger.thread!r} asked nothing itself, so there is nothing to "
            f"answer. What a graph within it asked is answered at a step of that graph. To go "
            f"back without an answer, give None."
        )
    then = _Then(_view_of(asked, resume), ledger.thread, ledger.store, ledger.codec)
    for answer in answers_in(then, resume, call.by, []):
        inquiry, again = asked[answer.question], ledger.view.runs[run]
        key = journal_key(again, inquiry.index, again.tasks[inquiry.index])
        at, index = map(int, key.split("."))
        question = _asked_again(inquiry.question, call.ids.new(), now)
        ledger.stage(Asked(at, index, question), Answered(question.id, answer.value, answer.by))


def _view_of(asked: Mapping[str, Inquiry], resume: Any) -> ThreadView:
    """What could be meant: the questions that are named, and those that were asked first."""
    given = resume.values if isinstance(resume, Answers) else resume
    names = set(given) if isinstance(given, Mapping) else set()
    journal = JournalView(
        questions=[
            Asking(inquiry.question)
            for inquiry in asked.values()
            if inquiry.at_once or names & {inquiry.question.id, inquiry.question.key}
        ]
    )
    questions = {asking.question.id: "then" for asking in journal.questions}
    return ThreadView(journals={"then": journal}, questions=questions)


def _asked_again(question: Question, new_id: str, now: int) -> Question:
    deadline = question.deadline
    if deadline is not None:
        deadline += now - question.asked_at
    return replace(question, id=new_id, asked_at=now, deadline=deadline, changes=0, replaced=None)


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
