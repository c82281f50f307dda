"""Whether a failed attempt is made again, after which pause, and how long an attempt may take.

Promises: pure answers; chance comes in as a number. Does not promise: that it is called; a pause, a
cancellation and a command to the parent are no failures and never come here.
Called by the engine around nodes and effects, and by `core.graph` for checking policies early.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from caesura.core.control import RetryPolicy, TimeoutPolicy
from caesura.errors import CaesuraError, InvalidGraph, NodeTimeoutError

# These come from a mistake in the program or from the operating system: the same call fails again.
_LASTING = (
    ValueError, TypeError, ArithmeticError, ImportError, LookupError, NameError, SyntaxError,
    RuntimeError, ReferenceError, StopIteration, StopAsyncIteration, OSError, CaesuraError,
)  # fmt: skip


def default_retry_on(error: BaseException) -> bool:
    """Retry what may pass: lost connections, a server's 5xx, timeouts of nodes, unknown errors."""
    if isinstance(error, ConnectionError | NodeTimeoutError):
        return True
    if (status := _http_status(error)) is not None:
        return 500 <= status < 600
    if _is_http_error(error):
        return True
    return isinstance(error, Exception) and not isinstance(error, _LASTING)


def _is_http_error(error: BaseException) -> bool:
    """Whether it is httpx's or requests' status error, by name, so that neither is imported."""
    return any(
        (cls.__module__.partition(".")[0], cls.__name__)
        in (("httpx", "HTTPStatusError"), ("requests", "HTTPError"))
        for cls in type(error).__mro__
    )


def _http_status(error: BaseException) -> int | None:
    if not _is_http_error(error):
        return None
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def matches(policy: RetryPolicy, error: BaseException) -> bool:
    """Whether this policy speaks about this error."""
    wanted = policy.retry_on
    if not isinstance(error, Exception):
        return False
    if wanted is None:
        return default_retry_on(error)
    if isinstance(wanted, type):
        return isinstance(error, wanted)
    if isinstance(wanted, Iterable):
        return isinstance(error, tuple(wanted))
    return bool(wanted(error))


def policy_for(policies: Sequence[RetryPolicy], error: BaseException) -> RetryPolicy | None:
    """The first policy that speaks about the error; None: it is not tried again."""
    return next((policy for policy in policies if matches(policy, error)), None)


def may_try_again(policy: RetryPolicy, attempts: int) -> bool:
    """Whether another attempt is left after so many, the first one included."""
    return attempts < policy.max_attempts


def next_delay(policy: RetryPolicy, attempt: int, chance: float) -> float:
    """Seconds to wait after the `attempt`th failure (from 1). `chance` is in [0, 1)."""
    try:
        grown = policy.initial_interval * policy.backoff_factor ** (attempt - 1)
    except OverflowError:
        grown = policy.max_interval
    delay = min(policy.max_interval, grown)
    return float(delay + chance if policy.jitter else delay)


# ------------------------------------------------------------------------------ checking policies
def coerce_retry(given: Any, where: str) -> tuple[RetryPolicy, ...]:
    """One policy, several or none, as a tuple."""
    if given is None:
        return ()
    policies = (given,) if isinstance(given, RetryPolicy) else tuple(given)
    for policy in policies:
        if not isinstance(policy, RetryPolicy):
            raise InvalidGraph(f"{where} got {policy!r} as a retry policy. Use RetryPolicy(...).")
        _check_retry_on(policy.retry_on, where)
        if policy.max_attempts < 1:
            raise InvalidGraph(
                f"{where} got max_attempts={policy.max_attempts}. The first attempt counts: use 1 "
                f"for no retry."
            )
    return policies


def _check_retry_on(wanted: Any, where: str) -> None:
    if wanted is None:
        return
    several = wanted if isinstance(wanted, list | tuple | set | frozenset) else (wanted,)
    if all(isinstance(one, type) and issubclass(one, Exception) for one in several):
        return
    if callable(wanted) and not isinstance(wanted, type):
        return
    raise InvalidGraph(
        f"{where} got retry_on={wanted!r}. Use an Exception class, several of them, or a function "
        f"that takes the error and returns whether to try again."
    )


def coerce_timeout(given: Any, where: str) -> TimeoutPolicy | None:
    """A policy with its times as positive seconds; None where nothing limits the time."""
    if given is None:
        return None
    policy = given if isinstance(given, TimeoutPolicy) else TimeoutPolicy(run_timeout=given)
    if policy.refresh_on not in ("auto", "heartbeat"):
        raise InvalidGraph(
            f"{where} got refresh_on={policy.refresh_on!r}. Use 'auto' or 'heartbeat'."
        )
    run = _seconds(policy.run_timeout, where, "run_timeout")
    idle = _seconds(policy.idle_timeout, where, "idle_timeout")
    if run is None and idle is None:
        return None
    return TimeoutPolicy(run_timeout=run, idle_timeout=idle, refresh_on=policy.refresh_on)


def _seconds(given: Any, where: str, name: str) -> float | None:
    if given is None:
        return None
    try:
        seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
    except (TypeError, ValueError):
        raise InvalidGraph(
            f"{where} got {name}={given!r}. Use seconds, a timedelta or a TimeoutPolicy."
        ) from None
    if not seconds > 0:
        raise InvalidGraph(f"{where} got {name}={given!r}. A timeout is more than 0 seconds.")
    return float(seconds)
