"""How to say briefly what of an observation is ours.

Promises: a change is a function of LangGraph's observation that returns a new one; it speaks only
of what differs, so whatever else is in the observation must still be equal.
Called by the lists of intended differences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .driver import Record

Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Intended:
    """Which observations of a case are ours instead of theirs.

    A change is a function of LangGraph's observation; a plain value replaces it. `extra` are
    observations that only we make, in the order in which they come at the end.
    """

    why: str
    changes: Mapping[str, Any]
    extra: tuple[tuple[str, Any], ...] = ()

    def ours(self, what: str, seen: Any) -> Any:
        change = self.changes[what]
        return change(seen) if callable(change) else change

    def apply(self, record: Record) -> Record:
        missing = set(self.changes) - {what for what, _ in record}
        if missing:
            raise AssertionError(
                f"No observation is called {sorted(missing)}; correct intended.py."
            )
        changed = [
            (what, self.ours(what, seen) if what in self.changes else seen) for what, seen in record
        ]
        return [*changed, *self.extra]


@dataclass(frozen=True)
class Like:
    """Equal to every text in which the pattern is found: a library's own words are not compared."""

    pattern: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.search(self.pattern, other, re.DOTALL) is not None

    def __hash__(self) -> int:
        return hash(self.pattern)


def raised(error: str) -> dict[str, str]:
    return {"raised": error}


# --------------------------------------------------------------------------- changes of one place
def then(*changes: Change) -> Change:
    """All of them, one after the other."""

    def change(seen: Any) -> Any:
        for each in changes:
            seen = each(seen)
        return seen

    return change


def put(new: Any, *path: Any) -> Change:
    """`new` at the place that keys and indexes lead to; a function is given what was there."""

    def change(seen: Any) -> Any:
        if not path:
            return new(seen) if callable(new) else new
        key, *rest = path
        inner = put(new, *rest)
        if isinstance(seen, Mapping):
            return {**seen, key: inner(seen.get(key))}
        items = list(seen)
        items[key] = inner(items[key])
        return type(seen)(items)

    return change


def plus(number: int) -> Change:
    return lambda seen: seen + number


def insert(index: int, item: Any) -> Change:
    return lambda seen: type(seen)([*seen[:index], item, *seen[index:]])


def append(item: Any) -> Change:
    return lambda seen: type(seen)([*seen, item])


def reorder(*order: int) -> Change:
    """Put what was at these indexes first, second and so on."""
    return lambda seen: type(seen)(seen[index] for index in order)


def drop(key: str) -> Change:
    return lambda seen: {k: v for k, v in seen.items() if k != key}


def later(kind: str, first: int) -> Change:
    """Make room in the numbering: from the `first` of its kind on, everything is one further."""

    name = re.compile(rf"{kind}-(\d+)")

    def change(seen: Any) -> Any:
        match seen:
            case Mapping():
                return {k: change(v) for k, v in seen.items()}
            case list() | tuple():
                return type(seen)(change(v) for v in seen)
            case str() if (found := name.fullmatch(seen)) and int(found[1]) >= first:
                return f"{kind}-{int(found[1]) + 1}"
        return seen

    return change


# ---------------------------------------------------------------------- snapshots and their parts
def at_step(number: int) -> dict[str, str]:
    return {"thread": "t", "step": f"step-{number}"}


def question(number: int, asks: Any) -> dict[str, Any]:
    return {"asks": asks, "id": f"question-{number}"}


def task(number: int, name: str, result: Any = None, asks: Any = (), **more: Any) -> dict[str, Any]:
    return {"name": name, "id": f"task-{number}", "interrupts": asks, "result": result, **more}


def entry(
    step: int, parent: int | None, count: int, values: Any, *tasks: Any, source: str = "loop"
) -> dict[str, Any]:
    """One entry of a history; its tasks are next."""
    return {
        "values": values,
        "next": tuple(each["name"] for each in tasks),
        "config": at_step(step),
        "parent": None if parent is None else at_step(parent),
        "metadata": {"source": source, "step": count, "parents": {}},
        "created_at": "iso",
        "tasks": list(tasks),
        "interrupts": tuple(asked for each in tasks for asked in each["interrupts"]),
    }


def counted(further: int) -> Change:
    """A snapshot that is so many steps further in our count."""
    return put(plus(further), "metadata", "step")


def stands(count: int, values: Any, *tasks: Any) -> Change:
    """A snapshot of another moment: the ids of the steps stay, and what they tell is ours."""

    def change(seen: Any) -> Any:
        ours = entry(0, None, count, values, *tasks)
        return {**ours, "config": seen["config"], "parent": seen["parent"]}

    return change


def logged(*words: str) -> dict[str, Any]:
    return {"log": list(words)}


def joined_by(index: int, number: int, name: str) -> Change:
    """A history whose entry `index` has one more task, which says its name."""
    return then(
        later("task", number),
        put(append(name), index, "next"),
        put(append(task(number, name, logged(name))), index, "tasks"),
    )
