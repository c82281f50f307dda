"""What every behaviour test is given: a program to speak to, and a till that counts effects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.behaviour.both import App


@pytest.fixture(params=["memory", "sqlite", "encrypted"])
def store_kind(request: pytest.FixtureRequest) -> str:
    if request.param == "encrypted":
        pytest.importorskip("cryptography")
    return str(request.param)


@pytest.fixture(params=["sync", "async"])
def app(request: pytest.FixtureRequest, store_kind: Any, tmp_path: Path) -> Iterator[App]:
    """One program per test, once for each API and each kind of store."""
    from tests.behaviour.both import App

    program = App(request.param, store_kind, tmp_path)
    yield program
    program.store.close()


class Till:
    """The outside world. What was done there cannot be undone, so tests count it."""

    def __init__(self) -> None:
        self.charged: list[Any] = []

    def charge(self, amount: Any) -> str:
        self.charged.append(amount)
        return f"receipt {len(self.charged)}"

    async def charge_slowly(self, amount: Any) -> str:
        return self.charge(amount)


@pytest.fixture
def till() -> Till:
    return Till()
