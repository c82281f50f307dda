"""Which questions an answer is for, and whether it may be given.

Promises: an answer reaches exactly the question that it names, or the only one that is open; what
could mean two things is refused with both ways to say it; all answers of one call are recorded, or
none. A closed question is an error that says who closed it and when.
Called by `engine.inputs` for `Command(resume=...)` and by the facade for `answer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from caesura.core.control import Answer, Answers
from caesura.core.decide import open_questions
from caesura.core.events import Answered, Expired
from caesura.core.journals import find_question
from caesura.core.view import Asking, ThreadView
from caesura.engine.answers_schema import check, json_schema_of, plain
from caesura.engine.ledger import Ledger
from caesura.errors import (
    AlreadyAnswered,
    AmbiguousAnswer,
    AuthoringError,
    InvalidAnswer,
    MissingExtra,
    NotFound,
    QuestionClosed,
    QuestionExpired,
    UnknownQuestion,
)

if TYPE_CHECKING:
    from caesura.engine.codec import Codec
    from caesura.ports import Store

SEVERAL = (
    "When there are multiple pending interrupts, you must specify the interrupt id when resuming. "
)


class Questions(Protocol):
    """What a thread asks: as its ledger has it now, or as a step of it had it once."""

    @property
    def view(self) -> ThreadView: ...
    @property
    def thread(self) -> str: ...
    @property
    def store(self) -> Store | None: ...
    @property
    def codec(self) -> Codec: ...


def close_overdue(ledger: Ledger) -> list[str]:
    """Stage the end of every question whose deadline has passed, by the store's clock."""
    view = ledger.view
    if not view.questions:
        return []
    now = ledger.clock.now()
    overdue = []
    for question in open_questions(view):
        asking = find_question(view, question)
        deadline = asking.question.deadline if asking is not None else None
        if deadline is not None and deadline <= now:
            overdue.append(question)
    for question in overdue:
        ledger.stage(Expired(question))
    return overdue


def answers_in(
    ledger: Questions, resume: Any, by: str | None, overdue: list[str]
) -> list[Answered]:
    """The answers that `Command(resume=...)` gives, checked; nothing is staged."""
    view = ledger.view
    open_ids = open_questions(view)
    if isinstance(resume, Answer):
        question = _the_only(view, open_ids, overdue, resume.value)
        return [_answer(ledger, question, resume.value, resume.by or by)]
    if isinstance(resume, Answers):
        named = _by_name(ledger, open_ids, resume.values, wrapped=True)
        return _all(ledger, named, resume.by or by)
    if isinstance(resume, Mapping) and resume and all(isinstance(k, str) for k in resume):
        named = _by_name(ledger, open_ids, resume, wrapped=False)
        if named is not None:
            return _all(ledger, named, by)
    return [_answer(ledger, _the_only(view, open_ids, overdue, resume), resume, by)]


def _all(ledger: Questions, named: Mapping[str, Any] | None, by: str | None) -> list[Answered]:
    return [_answer(ledger, question, value, by) for question, value in (named or {}).items()]


def _the_only(view: ThreadView, open_ids: list[str], overdue: list[str], value: Any) -> str:
    """The one question that is open."""
    if len(open_ids) == 1:
        return open_ids[0]
    if not open_ids:
        if len(overdue) == 1:
            _refuse_expired(find_question(view, overdue[0]))
        raise NotFound(
            f"This thread asks nothing, so {_short(value)} answers no question. Look at "
            f"get_state(thread).interrupts for what is open."
        )
    names = _names_of(view, open_ids)
    shown = ", ".join(f"{n!r} ({_short(_payload(view, q))})" for q, n in names.items())
    raise AmbiguousAnswer(
        f"{SEVERAL}Open are {shown}. Say which ones {_short(value)} is for: "
        f"Command(resume={{{names[open_ids[0]]!r}: ...}})."
    )


def _names_of(view: ThreadView, open_ids: list[str]) -> dict[str, str]:
    """How people can name open questions: by their keys, where these tell them apart."""
    keys = {
        q: found.question.key for q in open_ids if (found := find_question(view, q)) is not None
    }
    once = {key for key in keys.values() if key and list(keys.values()).count(key) == 1}
    return {q: key if (key := keys.get(q)) in once and key is not None else q for q in open_ids}


# --------------------------------------------------------------------------------- maps of answers
def _by_name(
    ledger: Questions, open_ids: list[str], given: Mapping[str, Any], *, wrapped: bool
) -> dict[str, Any] | None:
    """A mapping as answers by question id; None: it is an answer itself."""
    view = ledger.view
    keys: dict[str, list[str]] = {}
    for question in open_ids:
        asking = find_question(view, question)
        if asking is not None and asking.question.key is not None:
            keys.setdefault(asking.question.key, []).append(question)
    if all(name in keys for name in given):
        return _by_key(keys, open_ids, given, wrapped=wrapped)
    unknown = [n for n in given if n not in keys and not _is_of_thread(ledger, n)]
    if not unknown:
        return {q: v for n, v in given.items() for q in keys.get(n, [n])}
    for name in unknown:
        _refuse_closed_key(view, name)
        _refuse_of_another_thread(ledger, name, open_ids)
    if wrapped:
        raise UnknownQuestion(
            unknown,
            open_ids=open_ids,
            reason=f"Thread {ledger.thread!r} never asked {_listed(unknown)}. "
            + (f"Open are {_listed(open_ids)}." if open_ids else "Nothing is open."),
        )
    return None


def _refuse_closed_key(view: ThreadView, name: str) -> None:
    """Say so when a name is the key of a question that somebody has closed."""
    for journal in view.journals.values():
        for asking in journal.questions:
            if asking.question.key == name and asking.status in ("answered", "expired"):
                _refuse_closed(asking)


def _refuse_of_another_thread(ledger: Questions, name: str, open_ids: list[str]) -> None:
    """Say so when a name is the id of a question that another thread asks."""
    stored = ledger.store.question(name) if ledger.store is not None else None
    if stored is not None:
        raise UnknownQuestion(
            [name],
            open_ids=open_ids,
            reason=f"Question {name!r} was asked by thread {stored.thread!r}, and the answer was "
            f"given to thread {ledger.thread!r}. Give it to that thread, or to no thread by name: "
            f"answer({name!r}, ...). If the mapping is itself the answer, say so: "
            f"Command(resume=Answer({{...}})).",
        )


def _by_key(
    keys: dict[str, list[str]], open_ids: list[str], given: Mapping[str, Any], *, wrapped: bool
) -> dict[str, Any]:
    for name in given:
        if len(keys[name]) > 1:
            raise AmbiguousAnswer(
                f"{len(keys[name])} open questions have the key {name!r}: {_listed(keys[name])}. "
                f"Answer them by id."
            )
    if not wrapped and len(open_ids) == 1:
        raise AmbiguousAnswer(
            f"{_short(given)} could be the answer to the open question, whose key is "
            f"{next(iter(given))!r}, or a map of answers by key. Say which: "
            f"Command(resume=Answer({_short(given)})) or Command(resume=Answers({_short(given)}))."
        )
    return {keys[name][0]: value for name, value in given.items()}


def _is_of_thread(ledger: Questions, question: str) -> bool:
    if question in ledger.view.questions:
        return True
    if ledger.store is None:
        return False
    stored = ledger.store.question(question)
    return stored is not None and stored.thread == ledger.thread


# ------------------------------------------------------------------------------------- one question
def _answer(ledger: Questions, question: str, value: Any, by: str | None) -> Answered:
    """The event for an answer that may be given; raises what forbids it."""
    asking = find_question(ledger.view, question)
    if asking is None:
        refuse_forgotten(ledger, question)
    if asking.status != "open":
        _refuse_closed(asking)
    schema = asking.question.schema
    if schema is not None:
        value = plain(value)
        if problems := _problems(ledger, schema, value):
            raise InvalidAnswer(question, problems)
    return Answered(question, value, by)


def _problems(ledger: Questions, schema: dict[str, Any], value: Any) -> list[str]:
    try:
        return check(schema, value)
    except MissingExtra:
        # Without a library for JSON Schema, the class that the schema was made of can tell as well.
        known = _class_of(ledger, schema)
        if known is None:
            raise
        return check(known, value)


def _class_of(ledger: Questions, schema: dict[str, Any]) -> Any:
    for cls in (bool, int, float, str, *ledger.codec.registry.classes()):
        try:
            if json_schema_of(cls) == schema:
                return cls
        except AuthoringError:
            continue
    return None


def answer_to(ledger: Ledger, question: str, value: Any, by: str | None) -> Answered:
    """For an answer from anywhere, by the question's id alone."""
    if find_question(ledger.view, question) is None:
        refuse_forgotten(ledger, question)
    return _answer(ledger, question, value, by)


def _refuse_closed(asking: Asking) -> NoReturn:
    question = asking.question.id
    if asking.status == "expired":
        _refuse_expired(asking)
    kind = AlreadyAnswered if asking.status == "answered" else QuestionClosed
    raise kind(question, asking.status, asking.by, instant(asking.at))


def _refuse_expired(asking: Asking | None) -> NoReturn:
    assert asking is not None
    raise QuestionExpired(asking.question.id, instant(asking.question.deadline or 0))


def refuse_forgotten(ledger: Questions, question: str) -> NoReturn:
    """For a question that the thread no longer keeps, or never had: what the inbox knows of it."""
    stored = ledger.store.question(question) if ledger.store is not None else None
    open_ids = open_questions(ledger.view)
    if stored is None or stored.thread != ledger.thread:
        raise UnknownQuestion(
            [question],
            open_ids=open_ids,
            reason=f"Thread {ledger.thread!r} never asked {question!r}. "
            + (f"Open are {_listed(open_ids)}." if open_ids else "Nothing is open."),
        )
    facts = ledger.codec.decode_value(stored.row.body)
    if stored.row.status == "expired":
        raise QuestionExpired(question, instant(facts["deadline"] or 0))
    kind = AlreadyAnswered if stored.row.status == "answered" else QuestionClosed
    status = stored.row.status if stored.row.status != "open" else "withdrawn"
    raise kind(question, status, facts.get("by"), instant(facts["changed_at"]))


def instant(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat()


def _payload(view: ThreadView, question: str) -> Any:
    asking = find_question(view, question)
    return asking.question.payload if asking is not None else None


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
