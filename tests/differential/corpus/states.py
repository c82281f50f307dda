"""The states and nodes that most scripts share."""

import operator
from typing import Annotated, Any, TypedDict


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Count(TypedDict):
    n: int


class Mixed(TypedDict):
    log: Annotated[list[str], operator.add]
    n: int


def say(word: str) -> Any:
    """A node that adds its word to the log."""

    def node(state) -> dict[str, list[str]]:
        return {"log": [word]}

    return node


def fail(words: str) -> Any:
    """A node that raises."""

    def node(state) -> dict[str, list[str]]:
        raise ValueError(words)

    return node


def ask(api: Any, question: Any) -> Any:
    """A node that asks once and logs the answer."""

    def node(state) -> dict[str, list[Any]]:
        return {"log": [f"{question}={api.interrupt(question)}"]}

    return node


def graph_of(api: Any, *words: str) -> Any:
    """A builder whose nodes each say their own name."""
    builder = api.StateGraph(Log)
    for word in words:
        builder.add_node(word, say(word))
    return builder


def line_of(api: Any, *words: str) -> Any:
    """The same, one after the other."""
    builder = graph_of(api, *words)
    for here, there in zip((api.START, *words), words, strict=False):
        builder.add_edge(here, there)
    return builder


def kept(api: Any, builder: Any, **options: Any) -> Any:
    """Compiled with a fresh checkpointer, to talk about one thread."""
    return api.talk(builder.compile(checkpointer=api.checkpointer(), **options))
