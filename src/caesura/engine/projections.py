"""Turn a view into the rows of the projections: threads, and the questions people see.

Promises: a row is a function of the view alone, so projections can be rebuilt from the log.
Called by `engine.ledger` with every append that changes one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from caesura.core.decide import Status, open_questions
from caesura.core.history import find_question
from caesura.core.view import Asking, ThreadView
from caesura.ports import QuestionRow, ThreadRow

Encode = Callable[[Any], bytes]


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
    if asking is None:
        return None
    asked = asking.question
    return QuestionRow(
        id=question,
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
