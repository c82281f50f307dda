"""Which failures are tried again, and after which pause."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from caesura.core.control import RetryPolicy, TimeoutPolicy
from caesura.core.retry import (
    coerce_retry,
    coerce_timeout,
    default_retry_on,
    matches,
    may_try_again,
    next_delay,
    policy_for,
)
from caesura.errors import InvalidGraph, InvalidUpdateError, NodeTimeoutError


class ServiceDown(Exception):
    """An error of some client library."""


def http_error(status: int | None) -> Exception:
    class HTTPStatusError(Exception):
        response: Any = type("Response", (), {"status_code": status})()

    HTTPStatusError.__module__ = "httpx._exceptions"
    return HTTPStatusError("no")


@pytest.mark.parametrize(
    "error",
    [ConnectionError(), ConnectionResetError(), NodeTimeoutError(), ServiceDown(), http_error(503)],
    ids=repr,
)
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    assert default_retry_on(error)


@pytest.mark.parametrize(
    "error",
    [ValueError(), KeyError(), RuntimeError(), FileNotFoundError(), InvalidUpdateError(),
     http_error(404), KeyboardInterrupt()],
    ids=repr,
)  # fmt: skip
def test_what_will_fail_again_is_not_tried_again(error: BaseException) -> None:
    assert not default_retry_on(error)


@pytest.mark.parametrize(
    "retry_on",
    [ServiceDown, (ServiceDown, KeyError), [ServiceDown], lambda error: "down" in str(error)],
    ids=["a type", "a tuple", "a list", "a function"],
)
def test_a_policy_says_which_errors_it_is_for(retry_on: Any) -> None:
    policy = RetryPolicy(retry_on=retry_on)
    assert matches(policy, ServiceDown("down"))
    assert not matches(policy, ValueError("no"))


def test_what_is_no_failure_is_never_tried_again() -> None:
    assert not matches(RetryPolicy(retry_on=lambda error: True), KeyboardInterrupt())


def test_the_first_policy_that_fits_is_taken() -> None:
    first, second = RetryPolicy(retry_on=KeyError), RetryPolicy(retry_on=Exception)
    assert policy_for([first, second], KeyError()) is first
    assert policy_for([first, second], ValueError()) is second
    assert policy_for([first], ValueError()) is None


def test_the_first_attempt_counts() -> None:
    policy = RetryPolicy(max_attempts=2)
    assert may_try_again(policy, 1)
    assert not may_try_again(policy, 2)


def test_pauses_grow_up_to_a_bound() -> None:
    policy = RetryPolicy(initial_interval=1, backoff_factor=3, max_interval=5, jitter=False)
    assert [next_delay(policy, n, 0.9) for n in (1, 2, 3, 4)] == [1, 3, 5, 5]


def test_jitter_adds_less_than_a_second() -> None:
    assert next_delay(RetryPolicy(initial_interval=1), 1, 0.25) == 1.25


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_no_pause_is_endless(attempt: int, chance: float) -> None:
    assert 0 <= next_delay(RetryPolicy(), attempt, chance) <= 129


# ----------------------------------------------------------------------------------------- checking
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("often", "'o' as a retry policy"),
        ([5], "5 as a retry policy"),
        (RetryPolicy(max_attempts=0), "max_attempts=0.*use 1 for no retry"),
        (RetryPolicy(retry_on=int), "retry_on=<class 'int'>"),
        (RetryPolicy(retry_on="ValueError"), "retry_on='ValueError'"),
    ],
)
def test_a_policy_that_means_nothing_is_refused_with_its_node(given: Any, says: str) -> None:
    with pytest.raises(InvalidGraph, match=f"Node 'a' got {says}"):
        coerce_retry(given, "Node 'a'")


def test_a_policy_without_times_limits_nothing() -> None:
    assert coerce_timeout(TimeoutPolicy(), "Node 'a'") is None


def test_a_timeout_refreshes_in_one_of_two_ways() -> None:
    policy: Any = TimeoutPolicy(idle_timeout=1, refresh_on="never")  # type: ignore[arg-type]
    with pytest.raises(InvalidGraph, match=r"refresh_on='never'.*'auto' or 'heartbeat'"):
        coerce_timeout(policy, "Node 'a'")
