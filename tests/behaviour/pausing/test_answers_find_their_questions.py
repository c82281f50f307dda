"""An answer reaches the question that the person saw, wherever the code asks it now."""

from __future__ import annotations

import asyncio

import pytest

from caesura import interrupt


def test_two_questions_in_one_node_get_their_own_answers(app):
    def introduce(state):
        return {"notes": [interrupt("name?"), interrupt("age?")]}

    graph = app.chain(introduce)
    app.run(graph, {})
    app.answer(graph, "Ana")
    result = app.answer(graph, "7")

    assert result["notes"] == ["Ana", "7"]


@pytest.mark.parametrize("keyed", [False, True], ids=["by payload", "by key"])
def test_swapped_questions_keep_their_answers(app, keyed):
    swapped = []

    def ask(what):
        return interrupt(f"{what}?", key=what if keyed else None)

    def introduce(state):
        order = ["age", "name"] if swapped else ["name", "age"]
        answers = {what: ask(what) for what in order}
        return {"notes": [answers["name"], answers["age"]]}

    graph = app.chain(introduce)
    app.run(graph, {})
    app.answer(graph, "Ana")
    swapped.append(True)
    result = app.answer(graph, "7")

    assert result["notes"] == ["Ana", "7"]


def test_a_deploy_that_swaps_the_questions_keeps_the_answers(app):
    def old_form():
        def introduce(state):
            return {"notes": [f"name {interrupt('name?')}", f"age {interrupt('age?')}"]}

        return app.chain(introduce)

    def new_form():
        def introduce(state):
            return {"notes": [f"age {interrupt('age?')}", f"name {interrupt('name?')}"]}

        return app.chain(introduce)

    app.run(old_form(), {})
    app.answer(old_form(), "Ana")
    app.restart()
    result = app.answer(new_form(), "7")

    assert result["notes"] == ["age 7", "name Ana"]


def test_a_question_that_was_put_in_front_of_an_answered_one_is_asked(app):
    added = []

    def introduce(state):
        notes = [interrupt("title?")] if added else []
        return {"notes": [*notes, interrupt("name?"), interrupt("age?")]}

    graph = app.chain(introduce)
    app.run(graph, {})
    app.answer(graph, "Ana")
    added.append(True)
    waiting = app.answer(graph, "7")

    assert [question.value for question in waiting.interrupts] == ["title?"]
    assert app.answer(graph, "Dr")["notes"] == ["Dr", "Ana", "7"]


def gathering(app):
    """A graph whose node asks for a name and an age at the same time."""

    async def introduce(state):
        async def ask(what):
            return interrupt(f"{what}?")

        name, age = await asyncio.gather(ask("name"), ask("age"))
        return {"notes": [f"name {name}", f"age {age}"]}

    return app.chain(introduce)


@pytest.mark.parametrize("order", [["name?", "age?"], ["age?", "name?"]], ids=" then ".join)
def test_gathered_questions_answered_by_id_in_any_order_get_their_own_answers(app, order):
    graph = gathering(app)
    ids = {question.value: question.id for question in app.run(graph, {}).interrupts}
    answers = {"name?": "Ana", "age?": "7"}
    for question in order:
        result = app.answer(graph, {ids[question]: answers[question]})

    assert result["notes"] == ["name Ana", "age 7"]


def test_a_question_asked_again_unchanged_is_the_same_question(app):
    graph = gathering(app)
    asked = app.run(graph, {}).interrupts
    still_open = app.answer(graph, {asked[0].id: "Ana"}).interrupts

    assert len(still_open) == 1
    assert still_open == asked[1:]


@pytest.mark.parametrize("key", [None, "more"], ids=["without a key", "with a key"])
def test_the_same_question_in_a_loop_is_asked_each_time(app, key):
    def collect(state):
        return {"notes": [interrupt("more?", key=key) for _ in range(3)]}

    graph = app.chain(collect)
    app.run(graph, {})
    for answer in ("a", "b", "c"):
        result = app.answer(graph, answer)

    assert result["notes"] == ["a", "b", "c"]


@pytest.mark.parametrize("key", [None, "more"], ids=["without a key", "with a key"])
def test_the_same_question_in_a_loop_has_its_own_id_each_time(app, key):
    def collect(state):
        return {"notes": [interrupt("more?", key=key) for _ in range(3)]}

    graph = app.chain(collect)
    ids = [app.run(graph, {}).interrupts[0].id]
    ids += [app.answer(graph, answer).interrupts[0].id for answer in ("a", "b")]

    assert len(set(ids)) == 3


def test_one_key_may_carry_different_payloads_in_a_loop(app):
    def collect(state):
        return {"notes": [interrupt({"item": item}, key="item") for item in range(3)]}

    graph = app.chain(collect)
    app.run(graph, {})
    for answer in ("a", "b", "c"):
        result = app.answer(graph, answer)

    assert result["notes"] == ["a", "b", "c"]


def test_keys_of_different_nodes_do_not_meet(app):
    def left(state):
        return {"notes": [f"left {interrupt('sure?', key='sure')}"]}

    def right(state):
        return {"notes": [f"right {interrupt('sure?', key='sure')}"]}

    graph = app.side_by_side(left, right)
    waiting = app.run(graph, {})
    result = app.answer(graph, {waiting.interrupts[0].id: "1", waiting.interrupts[1].id: "2"})

    assert sorted(result["notes"]) == ["left 1", "right 2"]


def test_a_question_keeps_its_id_over_a_restart(app):
    def confirm(state):
        return {"notes": [interrupt("sure?")]}

    asked = app.run(app.chain(confirm), {}).interrupts
    app.restart()

    assert app.state(app.chain(confirm)).interrupts == asked


def test_the_question_carries_its_key(app):
    def confirm(state):
        interrupt("sure?", key="verdict")

    assert app.run(app.chain(confirm), {}).interrupts[0].key == "verdict"
