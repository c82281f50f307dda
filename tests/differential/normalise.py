"""Turn what a library returned into plain data that can be compared with the other library's.

Promises: everything random becomes the ordinal of its first appearance (ids, namespaces), times
become a mark, messages of library errors are dropped (their type stays), user data stays as it is;
lists stay lists and tuples stay tuples, because users see the difference.
Does not promise: to keep what the shared behaviour does not name (task paths, trace metadata).
Called by `driver`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from traceback import walk_tb
from typing import Any

CORPUS = str(Path(__file__).parent / "corpus")
PENDING = (
    "When there are multiple pending interrupts, you must specify the interrupt id when resuming."
)
SHARED_ERRORS = {
    "GraphRecursionError",
    "InvalidUpdateError",
    "EmptyInputError",
    "NodeTimeoutError",
    "ParentCommand",
    "UnknownInterruptError",
    "GraphDrained",
    "ValidationError",
}
_UUID = re.compile(r"^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$")


class Normaliser:
    """Knows the ids seen so far in one run of one script."""

    def __init__(self) -> None:
        self._ordinals: dict[str, dict[str, str]] = {}

    def ordinal(self, kind: str, value: Any) -> str | None:
        if value is None:
            return None
        seen = self._ordinals.setdefault(kind, {})
        return seen.setdefault(str(value), f"{kind}-{len(seen) + 1}")

    # ------------------------------------------------------------------------------ single values
    def plain(self, value: Any) -> Any:
        """Anything a user may hold, as plain data."""
        kind = type(value).__name__
        match value:
            case None | bool() | int() | float() | bytes():
                return value
            case str():
                return str(value)
            case BaseException():
                return self.error(value)
            case Mapping():
                return {k: self.plain(v) for k, v in _in_order(value).items()}
            case set() | frozenset():
                return ("set", sorted(value, key=repr))
        if kind == "StateSnapshot":
            return self.snapshot(value)
        if kind == "Interrupt":
            return {"asks": self.plain(value.value), "id": self.ordinal("question", value.id)}
        if kind == "Send":
            return {"send": value.node, "arg": self.plain(value.arg)}
        if kind == "Overwrite":
            return {"overwrite": self.plain(value.value)}
        if kind == "Command":
            fields = {f: getattr(value, f) for f in ("graph", "update", "resume", "goto")}
            return {"command": {k: self.plain(v) for k, v in fields.items() if v}}
        if isinstance(value, tuple):
            return tuple(self.plain(v) for v in value)
        if isinstance(value, list):
            return [self.plain(v) for v in value]
        if hasattr(value, "content") and hasattr(value, "type"):
            return {
                "message": value.type,
                "content": value.content,
                "id": self.message_id(value.id),
            }
        if hasattr(value, "model_dump"):
            return (kind, self.plain(value.model_dump()))
        if dataclasses.is_dataclass(value):
            names = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
            return (kind, {n: self.plain(getattr(value, n)) for n in names})
        return repr(value)

    def message_id(self, value: str | None) -> str | None:
        given = value is None or not _UUID.match(
            value.removeprefix("run-").removeprefix("lc_run--")
        )
        return value if given else self.ordinal("message", value)

    def error(self, error: Any) -> str:
        """A user's own exception in full; a library's by the nearest name that both share."""
        if isinstance(error, str):
            return error
        name = _shared_name(error)
        if str(error).startswith(PENDING):
            return f"{name}: {PENDING}"
        if name == "ParentCommand":
            return f"ParentCommand: {self.plain(error.args[0])}"
        if _is_the_users(error):
            return f"{type(error).__name__}: {error}"
        return name

    # -------------------------------------------------------------------------- state and history
    def config(self, config: Any) -> Any:
        if config is None:
            return None
        names = config["configurable"]
        seen = {
            "thread": names.get("thread_id"),
            "step": self.ordinal("step", names.get("checkpoint_id")),
        }
        if names.get("checkpoint_ns"):
            seen["namespace"] = self.namespace(names["checkpoint_ns"].split("|"))
        return seen

    def namespace(self, parts: Any) -> tuple[str, ...]:
        return tuple(self._part(str(part)) for part in parts)

    def _part(self, part: str) -> str:
        name, _, task = part.partition(":")
        return f"{name}:{self.ordinal('task', task)}" if task else name

    def snapshot(self, shot: Any) -> dict[str, Any]:
        return {
            "values": self.plain(shot.values),
            "next": shot.next,
            "config": self.config(shot.config),
            "parent": self.config(shot.parent_config),
            "metadata": self.metadata(shot.metadata),
            "created_at": _is_iso(shot.created_at),
            "tasks": [self.task(task) for task in shot.tasks],
            "interrupts": self.plain(shot.interrupts),
        }

    def metadata(self, metadata: Any) -> Any:
        if metadata is None:
            return None
        seen = {key: metadata.get(key) for key in ("source", "step")}
        parents = metadata.get("parents") or {}
        seen["parents"] = {
            "|".join(self.namespace(ns.split("|"))): self.ordinal("step", step)
            for ns, step in parents.items()
        }
        return seen

    def task(self, task: Any) -> dict[str, Any]:
        seen = {
            "name": task.name,
            "id": self.ordinal("task", task.id),
            "interrupts": self.plain(task.interrupts),
            "result": self.plain(task.result),
        }
        if task.error is not None:
            seen["error"] = _error_text(task.error)
        if task.state is not None:
            seen["state"] = self._child(task.state)
        return seen

    def _child(self, state: Any) -> Any:
        return self.config(state) if isinstance(state, Mapping) else self.snapshot(state)

    # ------------------------------------------------------------------------------------ streams
    def chunk(self, mode: str, chunk: Any) -> Any:
        match mode:
            case "tasks":
                return self.task_chunk(chunk)
            case "checkpoints":
                return self.checkpoint_chunk(chunk)
            case "debug":
                return self.debug_chunk(chunk)
            case "messages":
                message, about = chunk
                return (
                    self.plain(message),
                    about.get("langgraph_node"),
                    about.get("langgraph_step"),
                )
        return self.plain(chunk)

    def task_chunk(self, chunk: Any) -> dict[str, Any]:
        seen = {"name": chunk["name"], "id": self.ordinal("task", chunk["id"])}
        if "input" in chunk:
            return seen | {"input": self.plain(chunk["input"]), "has_triggers": "triggers" in chunk}
        error = chunk["error"]
        return seen | {
            "error": None if error is None else _error_text(error),
            "result": self.plain(chunk["result"]),
            "interrupts": [self._interrupt(i) for i in chunk["interrupts"]],
        }

    def _interrupt(self, shown: Any) -> Any:
        value, id_ = (
            (shown["value"], shown["id"]) if isinstance(shown, Mapping) else (shown.value, shown.id)
        )
        return {"asks": self.plain(value), "id": self.ordinal("question", id_)}

    def checkpoint_chunk(self, chunk: Any) -> dict[str, Any]:
        return {
            "config": self.config(chunk["config"]),
            "parent": self.config(chunk["parent_config"]),
            "metadata": self.metadata(chunk["metadata"]),
            "values": self.plain(chunk["values"]),
            "next": list(chunk["next"]),
            "tasks": [
                {
                    "name": task["name"],
                    "interrupts": [self._interrupt(i) for i in task.get("interrupts", ())],
                }
                for task in chunk["tasks"]
            ],
        }

    def debug_chunk(self, chunk: Any) -> dict[str, Any]:
        inner = self.checkpoint_chunk if chunk["type"] == "checkpoint" else self.task_chunk
        return {"step": chunk["step"], "type": chunk["type"], "payload": inner(chunk["payload"])}


def _in_order(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """LangGraph lists open questions as they come in from its threads; their order is not compared."""
    asked = value.get("__interrupt__")
    if not asked:
        return value
    return {**value, "__interrupt__": type(asked)(sorted(asked, key=lambda q: repr(q.value)))}


def _shared_name(error: BaseException) -> str:
    for cls in type(error).__mro__:
        if cls.__name__ in SHARED_ERRORS or cls.__module__ == "builtins":
            return cls.__name__
    return type(error).__name__


def _is_the_users(error: BaseException) -> bool:
    """Whether the corpus itself raised it: then its words are the script's and must survive."""
    frames = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].startswith(CORPUS)


def _error_text(error: Any) -> str:
    """`ValueError('boom')`, whether the library keeps the exception or its text."""
    text = error if isinstance(error, str) else repr(error)
    name = text.partition("(")[0]
    return name if name in SHARED_ERRORS else text


def _is_iso(text: Any) -> Any:
    return (
        "iso"
        if isinstance(text, str) and re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text)
        else text
    )
