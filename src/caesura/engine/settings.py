"""A call's config: the graph's own settings, the caller's, and the thread they name.

Promises: `thread="..."` and a config that names the thread are the same; ids become text.
Called by the facade.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from caesura.errors import InvalidCall

Config = dict[str, Any]


class Settings(NamedTuple):
    """A config, and what it says about the thread."""

    config: Config
    thread: str | None
    step: str | None
    namespace: str


def read_settings(own: Mapping[str, Any], given: Any, thread: Any = None) -> Settings:
    """Merge the settings of a graph with those of a call."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidCall(
            f"config={given!r} is no mapping. Write "
            f"config={{'configurable': {{'thread_id': ...}}}}, or thread=... for short."
        )
    config: Config = {**own, **(given or {})}
    configurable = {**(own.get("configurable") or {}), **((given or {}).get("configurable") or {})}
    if thread is not None:
        configurable["thread_id"] = thread
    named = configurable.get("thread_id")
    if named is not None:
        named = configurable["thread_id"] = str(named)
        if not named:
            raise InvalidCall("A thread's name is not empty. Write for example thread='order-7'.")
    limit = config.get("recursion_limit")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise InvalidCall(f"recursion_limit={limit!r}: a run needs at least 1 step.")
    most = config.get("max_concurrency")
    if most is not None and (not isinstance(most, int) or most < 1):
        raise InvalidCall(f"max_concurrency={most!r}: at least 1 task runs at once.")
    config["configurable"] = configurable
    step, namespace = configurable.get("checkpoint_id"), configurable.get("checkpoint_ns") or ""
    return Settings(config, named, None if step is None else str(step), str(namespace))


def settings_of(own: Mapping[str, Any], thread_or_config: Any) -> Settings:
    """For calls about a thread: its name, or a config that names it or one of its steps."""
    if isinstance(thread_or_config, Mapping):
        settings = read_settings(own, thread_or_config)
    else:
        settings = read_settings(own, None, thread_or_config)
    if settings.thread is None:
        raise InvalidCall(
            "Which thread? Give its name, or config={'configurable': {'thread_id': ...}}."
        )
    return settings
