"""A log that tells no story: a record is missing, or names what no record before it made.

Promises: an error that says which record of which thread it is, and what to do. Does not promise:
to find every damage; a record that was altered and still makes sense is folded as it is.
Called by whoever folds what a store gave: `engine.folios` and `engine.past`.
"""

from __future__ import annotations

from caesura.errors import CorruptRecord

# Where a fold looks for runs and steps. A reducer's own LookupError ends elsewhere.
_FOLDING = frozenset(
    {"core.history", "core.journals", "engine.folios", "engine.past", "engine.tallies"}
)


def gap(thread: str, seq: int) -> CorruptRecord:
    """For a record that does not follow the one before it."""
    return CorruptRecord(
        f"What comes before record {seq} of thread {thread!r} is missing from the store. {_REMEDY}"
    )


def refuse_damage(error: LookupError, thread: str, seq: int | None = None) -> None:
    """Raise `CorruptRecord` when folding itself looked for what is not there, not a reducer."""
    if _is_of_folding(error):
        which = f"Record {seq}" if seq is not None else "A record"
        raise CorruptRecord(
            f"{which} of thread {thread!r} is about something that no record before it made "
            f"({type(error).__name__}: {error}): a record is damaged or missing. {_REMEDY}"
        ) from error


_REMEDY = (
    "Restore the store from a backup, or go on in a new thread (delete_thread removes this one). "
    "Nothing was changed."
)


def _is_of_folding(error: LookupError) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return place.removeprefix("caesura.") in _FOLDING
