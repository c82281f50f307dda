"""How long one attempt of a node may take.

Promises: real time, measured by a clock that nobody sets. Used by `engine.tasks`, watched by
`engine.performer`.
"""

from __future__ import annotations

from time import monotonic
from typing import Any

from caesura.core.control import TimeoutPolicy
from caesura.errors import NodeTimeoutError


class Patience:
    """A deadline for one attempt: for all of it, and for the time without a sign of life."""

    def __init__(self, node: str, policy: TimeoutPolicy) -> None:
        self._node = node
        self._run: Any = policy.run_timeout
        self._idle: Any = policy.idle_timeout
        self.refreshes_itself = policy.refresh_on == "auto"
        self._began = self._heard = monotonic()

    def beat(self) -> None:
        """The node lives."""
        self._heard = monotonic()

    def remaining(self) -> float:
        now = monotonic()
        ends = [
            since + length - now
            for since, length in ((self._began, self._run), (self._heard, self._idle))
            if length is not None
        ]
        return float(min(ends))

    def error(self) -> NodeTimeoutError:
        if self._run is not None and monotonic() - self._began >= self._run:
            took = f"took longer than its run_timeout of {self._run:g} s"
        else:
            took = f"gave no sign of life for its idle_timeout of {self._idle:g} s"
        return NodeTimeoutError(
            f"Node {self._node!r} {took}. Give it more time (timeout=...), or let a retry_policy "
            f"try it again."
        )


def patience_for(
    node: str, policy: TimeoutPolicy | None, sent: float | None, step: float | None
) -> Patience | None:
    """The node's own policy, a `Send`'s timeout in its place, and the graph's `step_timeout`."""
    run: Any = sent if sent is not None else policy.run_timeout if policy is not None else None
    idle = policy.idle_timeout if policy is not None else None
    if step is not None:
        run = step if run is None else min(run, step)
    if run is None and idle is None:
        return None
    refresh = policy.refresh_on if policy is not None else "auto"
    return Patience(node, TimeoutPolicy(run_timeout=run, idle_timeout=idle, refresh_on=refresh))
