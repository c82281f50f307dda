"""How the parts of a thread are shown to people: questions, results, errors, times, names.

Promises: small functions of what they are given, that read no log.
Called by `engine.snapshots`, by `engine.chunks` and by everything that shows a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from caesura.core.control import START, Interrupt
from caesura.core.forms import ROOT
from caesura.core.parts import ErrorInfo, Question
from caesura.core.plan import Plan
from caesura.core.view import TaskView
from caesura.engine.failures import rebuild
from caesura.engine.naming import step_id


def config_of(thread: str, birth: str, ordinal: int | None, namespace: str = "") -> dict[str, Any]:
    """The config that names a thread, or one of its steps."""
    configurable: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": namespace}
    if ordinal is not None:
        configurable["checkpoint_id"] = step_id(birth, ordinal)
    return {"configurable": configurable}


def is_ended(task: TaskView) -> bool:
    """Whether a node's work is done, also when its conditional edges have yet to run."""
    return task.writes is not None and (task.goto is not None or task.node != START)


def shown(plan: Plan | None, values: Mapping[str, Any]) -> Any:
    """A state as people see it."""
    if plan is not None and plan.state.bare:
        return values.get(ROOT)
    return dict(values)


def interrupt_of(question: Question) -> Interrupt:
    deadline = None if question.deadline is None else instant(question.deadline)
    return Interrupt(question.payload, question.id, question.schema, question.key, deadline)


def result_of(writes: Sequence[Mapping[str, Any]] | None) -> Any:
    """What a task wrote, key by key; several writes of one key are said to be that."""
    found: dict[str, list[Any]] = {}
    for write in writes or ():
        for key, value in write.items():
            found.setdefault(key, []).append(value)
    result = {k: v[0] if len(v) == 1 else {"$writes": v} for k, v in found.items()}
    bare = ROOT if ROOT in result else START if set(result) == {START} else None
    return result[bare] if bare is not None else result


def error_in(task: TaskView, earlier: ErrorInfo | None = None) -> Exception | None:
    """What a task failed with, or failed with before it was tried again."""
    info = task.error or task.handled or earlier
    return rebuild(info) if info is not None else None


def path_of(task: TaskView, index: int) -> tuple[Any, ...]:
    return ("push", index) if task.sent else ("pull", task.node)


def instant(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).isoformat(timespec="microseconds")
