"""Lists of chat messages as state: same id replaces, `RemoveMessage` removes, the rest is appended.

Promises: an id that a message lacks is made once, before the write is logged (`prepare_messages`),
so that reading the log again gives the same list. Where langchain_core is installed messages become
its classes, as people expect of `add_messages`; elsewhere they are plain dicts. Nothing of it is
imported before the first message.
Called by `core.state` through the key's channel, and by hand.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Annotated, Any, Literal, TypedDict, overload

REMOVE_ALL_MESSAGES = "__remove_all__"

Format = Literal["langchain-openai"]


@cache
def _langchain() -> Any:
    """langchain_core.messages, or None where it is not installed."""
    try:
        return importlib.import_module("langchain_core.messages")
    except ImportError:
        return None


def RemoveMessage(id: str) -> Any:  # noqa: N802 - named as the class that it stands for
    """The request to remove the message with this id (`REMOVE_ALL_MESSAGES`: all before it)."""
    langchain = _langchain()
    return langchain.RemoveMessage(id=id) if langchain else {"role": "remove", "id": id}


@overload
def add_messages(*, format: Format | None = None) -> Callable[[Any, Any], list[Any]]: ...
@overload
def add_messages(left: Any, right: Any, *, format: Format | None = None) -> list[Any]: ...
def add_messages(
    left: Any = None,
    right: Any = None,
    *,
    format: Format | None = None,
) -> Any:
    """Merge messages into a list of messages; `add_messages(format=...)` makes a reducer of it.

    Messages that reach the state get an unguessable id. When called by hand, a message without one
    gets an id made from its place and content: always the same for the same call.
    """
    if left is None and right is None:
        return partial(add_messages, format=format)
    if left is None or right is None:
        raise ValueError(
            "add_messages joins two lists of messages and was given only one of them. Pass both."
        )
    if format not in (None, "langchain-openai"):
        raise ValueError(f"format={format!r} is not known. Use 'langchain-openai' or None.")
    merged = _merged(_coerced(left), _coerced(right))
    return _as_openai(merged) if format else merged


def prepare_messages(value: Any, new_id: Callable[[], str]) -> list[Any]:
    """The messages of a write, each with an id; the caller's own objects stay as they are."""
    return [m if _id(m) else _with_id(m, new_id()) for m in _coerced(value)]


def _merged(left: list[Any], right: list[Any]) -> list[Any]:
    for place in range(len(right) - 1, -1, -1):
        if _id(right[place]) == REMOVE_ALL_MESSAGES and _is_removal(right[place]):
            left, right = [], right[place + 1 :]
            break
    merged = list(left)
    places: dict[str, int] = {_id(message) or "": place for place, message in enumerate(left)}
    if "" in places:
        merged, places = [], {}
        for message in left:
            _append(merged, places, message)
    removed: set[str] = set()
    for message in right:
        known = _id(message)
        if known is None or known not in places:
            if _is_removal(message):
                raise ValueError(
                    f"There is no message with id {known!r} to remove. Use the id of a message "
                    f"that is in the list, or RemoveMessage(REMOVE_ALL_MESSAGES)."
                )
            _append(merged, places, message)
        elif _is_removal(message):
            removed.add(known)
        else:
            removed.discard(known)
            merged[places[known]] = message
    return [m for m in merged if _id(m) not in removed] if removed else merged


def _append(merged: list[Any], places: dict[str, int], message: Any) -> None:
    known = _id(message)
    if known is None:
        known = _derived_id(message, len(merged), places)
        message = _with_id(message, known)
    places[known] = len(merged)
    merged.append(message)


def _derived_id(message: Any, place: int, taken: dict[str, int]) -> str:
    """An id without chance: a reducer that calls `add_messages` has to give the same each time."""
    text = f"{place}:{message!r}".encode()
    while (made := hashlib.blake2b(text, digest_size=16).hexdigest()) in taken:
        text += b"+"
    return made


# ------------------------------------------------------------------------------- single messages
def _id(message: Any) -> str | None:
    if isinstance(message, dict):
        return message.get("id")
    return getattr(message, "id", None)


def _with_id(message: Any, new: str) -> Any:
    if isinstance(message, dict):
        return {**message, "id": new}
    if hasattr(message, "model_copy"):
        return message.model_copy(update={"id": new})
    return message


def _is_removal(message: Any) -> bool:
    if isinstance(message, dict):
        return "remove" in (message.get("role"), message.get("type"))
    return getattr(message, "type", None) == "remove"


def _coerced(value: Any) -> list[Any]:
    """A list of messages from whatever people write for one: text, pairs, dicts, messages."""
    given: Sequence[Any] = value if isinstance(value, list) else [value]
    langchain = _langchain()
    if langchain is None:
        return [_plain(message) for message in given]
    chunk, finished = langchain.BaseMessageChunk, langchain.BaseMessage
    if all(issubclass(t, finished) and not issubclass(t, chunk) for t in set(map(type, given))):
        return list(given)
    converted: Iterable[Any] = langchain.convert_to_messages(given)
    return [langchain.message_chunk_to_message(message) for message in converted]


def _plain(message: Any) -> Any:
    if isinstance(message, str):
        return {"role": "user", "content": message}
    if isinstance(message, tuple) and len(message) == 2:
        return {"role": message[0], "content": message[1]}
    if isinstance(message, dict) and ("role" in message or "type" in message):
        return message
    if hasattr(message, "id"):
        return message
    raise ValueError(
        f"{message!r} is no message. Write a text, a (role, text) pair, or a dict with 'role' and "
        f"'content'."
    )


def _as_openai(messages: list[Any]) -> list[Any]:
    langchain = _langchain()
    if langchain is None:
        raise ValueError(
            "add_messages(format='langchain-openai') needs langchain-core. Leave the format out, "
            "or install it with: pip install 'caesura[langchain]'"
        )
    formatted: list[Any] = langchain.convert_to_messages(
        langchain.convert_to_openai_messages(messages)
    )
    # The format has no place for ids; without them the next message could replace none of these.
    return [
        _with_id(new, known) if (known := _id(old)) else new
        for old, new in zip(messages, formatted, strict=False)
    ]


class MessagesState(TypedDict):
    """A state that is a conversation. Subclass it to add keys."""

    messages: Annotated[list[Any], add_messages]
