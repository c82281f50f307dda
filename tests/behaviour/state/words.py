"""How tests speak of steps, and the nodes that most of them run."""

from __future__ import annotations

from typing import Any

from caesura import interrupt


def id_of(step: Any) -> str:
    """A step's id, of its snapshot or of its config."""
    config = step if isinstance(step, dict) else step.config
    return str(config["configurable"]["checkpoint_id"])


def parent_of(step: Any) -> str | None:
    return None if step.parent_config is None else id_of(step.parent_config)


def before(app: Any, graph: Any, *nodes: str, thread: str = "t") -> Any:
    """The latest step at which these nodes were next."""
    return next(step for step in app.history(graph, thread=thread) if step.next == nodes)


def told(steps: list[Any]) -> list[tuple[str, int, tuple[str, ...]]]:
    """Steps as a person would tell them: source, number, what was next."""
    return [(step.metadata["source"], step.metadata["step"], step.next) for step in steps]


def saying(word):
    def node(state):
        return {"notes": [word]}

    node.__name__ = word
    return node


def asking(question, name="review"):
    def node(state):
        return {"notes": [f"{question} {interrupt(question, key=question)}"]}

    node.__name__ = name
    return node
