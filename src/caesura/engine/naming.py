"""The names under which steps and tasks are known outside: stable, unguessable, sortable by age.

Promises: a step's id names one step of one thread, also after the thread was deleted and made anew;
ids of one thread sort in the order in which the steps were made.
Called by everything that shows steps and tasks to people, and by whoever takes their ids back.
"""

from __future__ import annotations

from hashlib import blake2b

_ORDINAL = 10
_BIRTH = 22


def step_id(birth: str, ordinal: int) -> str:
    """What `checkpoint_id` is."""
    return f"{ordinal:0{_ORDINAL}x}{birth[:_BIRTH]}"


def ordinal_of(birth: str, step: str) -> int | None:
    """Which step an id names; None when it is none of this thread's."""
    if len(step) != _ORDINAL + len(birth[:_BIRTH]) or step[_ORDINAL:] != birth[:_BIRTH]:
        return None
    try:
        return int(step[:_ORDINAL], 16)
    except ValueError:
        return None


def task_id(birth: str, step: int, index: int) -> str:
    return blake2b(f"{birth}.{step}.{index}".encode(), digest_size=16).hexdigest()
