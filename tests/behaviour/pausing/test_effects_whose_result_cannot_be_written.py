"""An effect that happened but left no record is repeated by nobody until a person decides."""

from __future__ import annotations

import threading

import pytest

from caesura import once
from caesura.errors import PerformedUnrecorded


class Door:
    """Opens, and gives back a handle that no log can hold."""

    def __init__(self) -> None:
        self.opened = 0

    def open(self, room: str) -> object:
        self.opened += 1
        return threading.Lock()


@pytest.fixture
def door():
    return Door()


@pytest.fixture
def graph(app, door):
    def enter(state):
        return {"notes": [f"inside with {once(door.open, 'cellar')}"]}

    return app.chain(enter)


def test_the_caller_is_told_that_it_happened(app, graph):
    with pytest.raises(PerformedUnrecorded, match=r"(?s)was performed.*settle"):
        app.run(graph, {})


def test_going_on_does_not_repeat_it(app, graph, door):
    for attempt in (lambda: app.run(graph, {}), lambda: app.go_on(graph), lambda: app.go_on(graph)):
        with pytest.raises(PerformedUnrecorded):
            attempt()
    assert door.opened == 1


def test_a_restart_does_not_repeat_it(app, door):
    def enter(state):
        once(door.open, "cellar")

    with pytest.raises(PerformedUnrecorded):
        app.run(app.chain(enter), {})
    app.restart()
    with pytest.raises(PerformedUnrecorded):
        app.go_on(app.chain(enter))
    assert door.opened == 1


def test_a_person_can_give_its_result(app, graph, door):
    with pytest.raises(PerformedUnrecorded) as caught:
        app.run(graph, {})
    app.settle(graph, caught.value.name, result="key 7", by="ana")

    assert app.go_on(graph)["notes"] == ["inside with key 7"]
    assert door.opened == 1


def test_a_person_can_let_it_happen_again(app, graph, door):
    with pytest.raises(PerformedUnrecorded) as caught:
        app.run(graph, {})
    app.settle(graph, caught.value.name, repeat=True, by="ana")
    with pytest.raises(PerformedUnrecorded):
        app.go_on(graph)

    assert door.opened == 2


def test_an_async_effect_is_not_repeated_either(app):
    opened = []

    async def open_door(room):
        opened.append(room)
        return threading.Lock()

    async def enter(state):
        await once(open_door, "cellar")

    graph = app.chain(enter)
    for attempt in (lambda: app.run(graph, {}), lambda: app.go_on(graph)):
        with pytest.raises(PerformedUnrecorded):
            attempt()
    assert opened == ["cellar"]
