"""What tests about state and time are given: graphs of three steps, and their threads."""

from __future__ import annotations

import pytest

from tests.behaviour.both import App
from tests.behaviour.state.words import asking, saying


@pytest.fixture
def line(app: App):
    """a, then b, then c; each notes its name."""
    return app.chain(saying("a"), saying("b"), saying("c"))


@pytest.fixture
def finished(app: App, line):
    """The line, whose thread has run to its end."""
    app.run(line, {"amount": 1})
    return line


@pytest.fixture
def waiting(app: App):
    """draft, then a question, then ship; its thread waits."""
    graph = app.chain(saying("draft"), asking("good?"), saying("ship"))
    app.run(graph, {"amount": 1})
    return graph
