"""`interrupt`: ask a person, and go on with the answer.

Promises: the answer that comes back was given to exactly this question, as it stands now. Raises
`Suspended` (no `Exception`) while there is none.
Called from nodes and from the functions of conditional edges.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from caesura.core.control import UNSET
from caesura.core.parts import Question
from caesura.engine.answers_schema import Problems, convert, json_schema_of
from caesura.engine.effects import effect_around
from caesura.engine.fingerprint import fingerprint
from caesura.engine.scopes import Scope, current_scope
from caesura.errors import AuthoringError, QuestionExpired

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")

ON_TIMEOUT = ("fail", "default")


def interrupt(
    payload: Any = None,
    *,
    key: str | None = None,
    schema: Any = None,
    response_schema: Any = None,
    timeout: float | str | timedelta | None = None,
    default: Any = UNSET,
    on_timeout: str | None = None,
    volatile: bool = False,
) -> Any:
    """Ask a person and return the answer, now or in a month.

    `key` names the question, so that its answer finds it wherever the code has moved; without one
    the payload does. `schema` is what an answer must look like. After `timeout` the answer is
    `default`, or `QuestionExpired` is raised here. `volatile` says that the payload of a keyed
    question may differ between passes.
    """
    scope = current_scope("interrupt()")
    _refuse_within_effect(scope)
    schema = schema if schema is not None else response_schema
    call = scope.work.call
    question = Question(
        id=call.ids.new(),
        key=key,
        fingerprint=fingerprint(payload, call.ledger.codec.registry),
        use=0,
        payload=payload,
        schema=json_schema_of(schema) if schema is not None else None,
        has_default=default is not UNSET,
        default=None if default is UNSET else default,
        on_timeout=_on_timeout(on_timeout, default is not UNSET, timeout is not None),
        volatile=_volatile(volatile, key),
        node=scope.node,
        asked_at=call.clock.now(),
    )
    if timeout is not None:
        question.deadline = question.asked_at + round(seconds_in(timeout) * 1e6)
    return _answer_to(scope, question, schema)


def _refuse_within_effect(scope: Scope) -> None:
    """An effect that waits would be performed again from its beginning when the answer is here."""
    effect = effect_around(scope)
    if effect is None:
        return
    refusal = AuthoringError(
        f"interrupt() was called inside once({effect.name}), which would be performed again after "
        f"the answer. Ask outside of it and hand the answer in: answer = interrupt(...), then "
        f"once({effect.name}, answer)."
    )
    effect.scope.cut_off(refusal)
    raise refusal


def _answer_to(scope: Scope, question: Question, schema: Any) -> Any:
    if schema is not None:
        call = scope.work.call
        call.ledger.codec.registry.learn(schema, replace=True)
        if question.has_default:
            _default_of(question, schema)
    known = scope.ask(question)
    asked = known.question
    if known.status == "expired":
        if asked.on_timeout == "default":
            return asked.default if schema is None else _default_of(asked, schema)
        raise QuestionExpired(asked.id, _instant(asked.deadline))
    if schema is None:
        return known.answer
    try:
        return convert(schema, known.answer)
    except Problems as problems:
        raise AuthoringError(
            f"The answer to question {asked.id} no longer fits the schema that node "
            f"{scope.node!r} asks with: {'; '.join(problems.problems)}. Accept the old form too, "
            f"or give the question another key so that it is asked anew."
        ) from problems


def _default_of(question: Question, schema: Any) -> Any:
    """The default as an answer."""
    try:
        return convert(schema, question.default)
    except Problems as problems:
        raise AuthoringError(
            f"The default of question {question.key or question.payload!r} does not fit its "
            f"schema: {'; '.join(problems.problems)}. Give a default that could be an answer."
        ) from problems


def _on_timeout(wanted: str | None, has_default: bool, has_timeout: bool) -> str | None:
    if wanted is None:
        return "default" if has_default else "fail"
    if wanted not in ON_TIMEOUT:
        raise AuthoringError(f"on_timeout={wanted!r} is not known. Use one of {ON_TIMEOUT}.")
    if wanted == "default" and not has_default:
        raise AuthoringError("on_timeout='default' needs a default: interrupt(..., default=...).")
    if not has_timeout:
        raise AuthoringError(
            f"on_timeout={wanted!r} needs a timeout: interrupt(..., timeout='2h')."
        )
    return wanted


def _volatile(wanted: bool, key: str | None) -> bool:
    if wanted and key is None:
        raise AuthoringError(
            "interrupt(volatile=True) needs a key: without one the payload is what names the "
            "question. Add key='...'."
        )
    return wanted


def seconds_in(length: float | str | timedelta) -> float:
    """A length of time as seconds: a number, a timedelta, or text such as '2h' or '1d12h'."""
    if isinstance(length, timedelta):
        seconds = length.total_seconds()
    elif isinstance(length, str):
        text = length.replace(" ", "")
        parts = _LENGTH.findall(text)
        if not parts or "".join(n + u for n, u in parts) != text:
            raise AuthoringError(
                f"{length!r} is no length of time. Write for example '90s', '30m', '2h' or '1d12h'."
            )
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    else:
        seconds = float(length)
    if not seconds > 0:
        raise AuthoringError(f"A timeout is more than 0 seconds, not {length!r}.")
    return seconds


def _instant(at: int | None) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp((at or 0) / 1e6, UTC).isoformat()
