"""Threads that a node starts by itself: without its context an error with the remedy."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from caesura import interrupt, once
from caesura.errors import OutsideANode
from tests.behaviour.both import PATIENCE_S


def in_a_thread(function, *args):
    """Run it in a bare thread, raise here what it raised there."""
    outcome = {}

    def work():
        try:
            outcome["result"] = function(*args)
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE_S)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def test_a_question_in_a_thread_without_the_context_is_an_error_with_the_remedy(app):
    def confirm(state):
        return {"notes": [in_a_thread(interrupt, "sure?")]}

    with pytest.raises(OutsideANode, match="copy_context"):
        app.run(app.chain(confirm), {})


def test_an_effect_in_a_thread_without_the_context_is_an_error_with_the_remedy(app, till):
    def buy(state):
        return {"notes": [in_a_thread(once, till.charge, 5)]}

    with pytest.raises(OutsideANode, match="copy_context"):
        app.run(app.chain(buy), {})


def test_an_effect_in_a_thread_without_the_context_does_not_happen(app, till):
    def buy(state):
        return {"notes": [in_a_thread(once, till.charge, 5)]}

    with pytest.raises(OutsideANode):
        app.run(app.chain(buy), {})
    assert till.charged == []


def test_a_question_in_a_thread_with_the_context_is_asked_and_answered(app):
    def confirm(state):
        return {"notes": [in_a_thread(copy_context().run, interrupt, "sure?")]}

    graph = app.chain(confirm)
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["sure?"]
    assert app.answer(graph, "yes")["notes"] == ["yes"]


def test_an_effect_in_a_thread_with_the_context_happens_once(app, till):
    def buy(state):
        receipt = in_a_thread(copy_context().run, once, till.charge, 5)
        return {"notes": [receipt, interrupt("happy?")]}

    graph = app.chain(buy)
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert result["notes"] == ["receipt 1", "yes"]
    assert till.charged == [5]


def test_questions_from_a_thread_pool_are_asked_together(app):
    def confirm(state):
        with ThreadPoolExecutor() as pool:
            jobs = [
                pool.submit(copy_context().run, interrupt, f"{what}?")
                for what in ("price", "address")
            ]
        return {"notes": [job.result() for job in jobs]}

    graph = app.chain(confirm)
    waiting = app.run(graph, {})
    result = app.answer(graph, {question.id: question.value for question in waiting.interrupts})

    assert sorted(question.value for question in waiting.interrupts) == ["address?", "price?"]
    assert result["notes"] == ["price?", "address?"]


def test_a_pause_in_a_thread_that_nobody_looks_at_is_a_pause(app, till):
    def confirm(state):
        def ask():
            till.charge(interrupt("price?"))

        thread = threading.Thread(target=copy_context().run, args=(quietly, ask))
        thread.start()
        thread.join(PATIENCE_S)
        return {"notes": ["went on"]}

    waiting = app.run(app.chain(confirm), {})

    assert [question.value for question in waiting.interrupts] == ["price?"]
    assert waiting.get("notes", []) == []
    assert till.charged == []


def quietly(function):
    """A thread's own loss of an exception, without its noise."""
    try:
        function()
    except BaseException:
        pass
