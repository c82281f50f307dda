"""Turn a view into the rows of the projections: threads, and the questions people see.

Promises: a row is a function of the view alone, so projections can be rebuilt from the log.
Called by `engine.ledger` with every append that changes one of them; `rebuild` by administrators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from caesura.core.decide import Status, open_questions, status_of
from caesura.core.events import Answered, Asked, Event, Expired, Withdrawn
from caesura.core.journals import find_question
from caesura.core.view import Asking, ThreadView
from caesura.ports import QuestionRow, RunRow, ThreadRow

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger

Encode = Callable[[Any], bytes]

ABOUT_QUESTIONS: frozenset[type[Event]] = frozenset((Asked, Answered, Withdrawn, Expired))


def questions_in(event: Any) -> list[str]:
    """The questions whose rows this event changes."""
    if type(event) not in ABOUT_QUESTIONS:
        return []
    if type(event) is Asked:
        return [event.question.id, *([event.replaces] if event.replaces is not None else [])]
    return [event.question]


def thread_row(view: ThreadView, status: Status) -> ThreadRow:
    """What a list of threads shows."""
    dues = [due for q in open_questions(view) if (due := _deadline(view, q)) is not None]
    return ThreadRow(view.graph, status, view.at, min(dues, default=None))


def _deadline(view: ThreadView, question: str) -> int | None:
    asking = find_question(view, question)
    return asking.question.deadline if asking else None


def question_row(
    view: ThreadView, thread: str, question: str, encode: Encode
) -> QuestionRow | None:
    """One question, with what became of it; None when the thread has forgotten it."""
    asking = find_question(view, question)
    return None if asking is None else row_of(thread, asking, encode)


def row_of(thread: str, asking: Asking, encode: Encode) -> QuestionRow:
    asked = asking.question
    return QuestionRow(
        id=asked.id,
        status=asking.status,  # type: ignore[arg-type]
        asked_at=asked.asked_at,
        due=asked.deadline if asking.status == "open" else None,
        body=encode(question_facts(thread, asking)),
    )


def question_facts(thread: str, asking: Asking) -> dict[str, Any]:
    """Everything about a question that somebody without the graph may want to show."""
    asked = asking.question
    facts: dict[str, Any] = {
        "id": asked.id,
        "thread": thread,
        "node": asked.node,
        "key": asked.key,
        "payload": asked.payload,
        "schema": asked.schema,
        "deadline": asked.deadline,
        "status": asking.status,
        "changed_at": asking.at,
    }
    if asking.status == "answered":
        facts["answer"], facts["by"] = asking.answer, asking.by
    return facts


# ----------------------------------------------------------------------------------- from the log
def rebuild(graph: CompiledGraph, thread: str) -> None:
    """Put what the log says in the place of a thread's rows; `StaleHead` when it grows meanwhile.

    Questions older than what was pruned keep their rows: no log says anything else about them. A
    thread that is being run is left alone (`ThreadBusy`).
    """
    from caesura.engine.leases import wish_for

    store, ledger = graph.need_store("Rebuilding"), graph.ledger_for(thread)
    ledger.load()
    ledger.require()
    wish_for(store, thread, "", ledger.lease)
    row, questions, ended = rows_of(graph, ledger)
    runs = {(run.step, run.index): run for run in (*store.runs(thread), *ended)}
    store.replace_rows(
        thread,
        expected_head=ledger.head,
        row=row,
        questions=list((_stored_questions(ledger) | questions).values()),
        runs=list(runs.values()),
    )


def rows_of(
    graph: CompiledGraph, ledger: Ledger
) -> tuple[ThreadRow, dict[str, QuestionRow], tuple[RunRow, ...]]:
    """A thread's row, those of its questions and those of its tasks, by the log alone."""
    from caesura.core.history import Fold
    from caesura.engine.families import Family
    from caesura.engine.past import Past
    from caesura.engine.tallies import Tally

    tally = Tally()
    snapshot, records = Past(graph, ledger).from_the_beginning()
    view = ThreadView() if snapshot is None else ledger.codec.decode_view(snapshot.body)
    fold = Fold(view, Family(graph.plan).spec)
    found: dict[str, QuestionRow] = {}

    def note(questions: Iterable[str]) -> None:
        for question in questions:
            row = question_row(fold.view, ledger.thread, question, ledger.codec.encode_value)
            if row is not None:
                found[question] = row

    note(view.questions)
    for record in records:
        if snapshot is None or record.seq > snapshot.seq:
            at, events = ledger.codec.decode(record.body)
            for event in events:
                tally.note(fold.view, event, at)
                fold.apply(at, (event,))
                at = fold.view.at
                note(questions_in(event))
    return thread_row(fold.view, status_of(fold.view)), found, tally.take(all_of_them=True)


def _stored_questions(ledger: Ledger) -> dict[str, QuestionRow]:
    assert ledger.store is not None
    found: dict[str, QuestionRow] = {}
    last: tuple[int, str] | None = None
    while page := ledger.store.questions(thread=ledger.thread, after=last):
        found |= {stored.row.id: stored.row for stored in page}
        last = page[-1].row.asked_at, page[-1].row.id
    return found
