"""What no store takes, and the form in which all of them keep a question's columns.

Promises: nothing was written when one of these raises; a question comes back the same from every
store. Called by the stores of this package.
"""

from __future__ import annotations

from typing import Any

import msgspec

from caesura.errors import RecordTooLarge
from caesura.ports import Append, QuestionRow, Release

DEFAULT_MAX_BYTES = 64 * 1024 * 1024
MOST_EVENTS = 0xFFFF_FFFF  # on one thread


def is_plain(append: Append) -> bool:
    """Whether it only adds a record to a thread that is there, under a lease."""
    return (
        append.epoch is not None
        and append.lease is None
        and append.row is None
        and append.snapshot is None
        and not append.questions
        and not append.runs
        and append.after > 0
        and append.after < append.head <= MOST_EVENTS
    )


def admit(append: Append, max_bytes: int) -> None:
    if len(append.body) > max_bytes:
        raise too_large("A record", append.thread, append.body, max_bytes)
    snapshot = append.snapshot
    if snapshot is not None and len(snapshot.body) > max_bytes:
        raise too_large("The state", append.thread, snapshot.body, max_bytes)
    for question in append.questions:
        if len(question.body) > max_bytes:
            raise too_large(f"Question {question.id}", append.thread, question.body, max_bytes)
    if append.count <= 0 and (append.count < 0 or append.body):
        raise ValueError(f"{append.count} events cannot make a body of {len(append.body)} bytes")
    if append.epoch is None and isinstance(append.lease, Release):
        raise ValueError("only the holder of a lease can give it back: Release needs an epoch")
    if append.head > MOST_EVENTS:
        raise ValueError(
            f"thread {append.thread!r} is full: it holds {append.after:,} events. Start another one"
        )


def too_large(what: str, thread: str, body: bytes, max_bytes: int) -> RecordTooLarge:
    return RecordTooLarge(f"{what} of thread {thread!r}", size=len(body), limit=max_bytes)


def unprunable(thread: str, upto: int) -> ValueError:
    return ValueError(
        f"records of thread {thread!r} up to {upto} are needed: no snapshot stands for them. "
        f"Append a snapshot with seq >= {upto} first"
    )


def asked_elsewhere(question_id: str, thread: str) -> ValueError:
    return ValueError(
        f"question {question_id} belongs to thread {thread!r}: it is asked on one thread only"
    )


def encoded_columns(row: QuestionRow) -> bytes:
    return msgspec.json.encode(row.columns) if row.columns else b"{}"


def decoded_columns(columns: bytes | str) -> dict[str, Any]:
    return msgspec.json.decode(columns, type=dict[str, Any])
