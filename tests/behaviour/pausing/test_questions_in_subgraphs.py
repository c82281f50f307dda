"""Questions inside graphs inside graphs, as nodes and called by functions, at any depth."""

from __future__ import annotations

from itertools import pairwise
from typing import TypedDict

import pytest

from caesura import END, START, StateGraph, interrupt, once


class Letter(TypedDict, total=False):
    draft: str
    verdict: str
    second: str


@pytest.fixture
def ran():
    """Every start of a node, in order."""
    return []


def _line(*steps, name="child", **options):
    """A graph of these (name, action) pairs, one after another."""
    builder = StateGraph(Letter)
    names = [START, *(name for name, _ in steps), END]
    for step, action in steps:
        builder.add_node(step, action)
    for source, target in pairwise(names):
        builder.add_edge(source, target)
    return builder, {"name": name, **options}


def child_graph(*steps, name="child", **options):
    builder, options = _line(*steps, name=name, **options)
    return builder.compile(**options)


def parent_graph(app, *steps):
    builder, options = _line(*steps, name="parent")
    return app.compile(builder, **options)


def nested(app, depth, ran, innermost):
    """`depth` graphs inside each other, each with a step of its own before and after the inner."""

    def noting(what):
        def note(state):
            ran.append(what)

        return note

    inner = child_graph(("write", noting("write")), ("ask", innermost), name="level 0")
    for level in range(1, depth + 1):
        steps = (
            ("before", noting(f"before {level}")),
            ("inner", inner),
            ("after", noting(f"after {level}")),
        )
        last = level == depth
        inner = parent_graph(app, *steps) if last else child_graph(*steps, name=f"level {level}")
    return inner


@pytest.fixture(params=[1, 2, 4], ids=lambda depth: f"depth {depth}")
def depth(request):
    return request.param


def ask_for_a_verdict(state):
    return {"verdict": interrupt("verdict?")}


def test_a_question_inside_comes_out(app, depth, ran):
    waiting = app.run(nested(app, depth, ran, ask_for_a_verdict), {})
    assert [question.value for question in waiting.interrupts] == ["verdict?"]


def test_an_answer_goes_in(app, depth, ran):
    graph = nested(app, depth, ran, ask_for_a_verdict)
    app.run(graph, {})
    assert app.answer(graph, "fine")["verdict"] == "fine"


def test_an_answer_goes_in_after_a_restart(app, depth, ran):
    app.run(nested(app, depth, ran, ask_for_a_verdict), {})
    app.restart()
    assert app.answer(nested(app, depth, ran, ask_for_a_verdict), "fine")["verdict"] == "fine"


def test_no_level_repeats_what_it_had_finished(app, depth, ran):
    graph = nested(app, depth, ran, ask_for_a_verdict)
    app.run(graph, {})
    app.answer(graph, "fine")

    inwards = [f"before {level}" for level in range(depth, 0, -1)]
    outwards = [f"after {level}" for level in range(1, depth + 1)]
    assert ran == [*inwards, "write", *outwards]


def test_a_swallowed_pause_inside_is_a_pause_outside(app, depth, ran, till):
    def eat_the_pause(state):
        try:
            verdict = interrupt("verdict?")
        except BaseException:
            verdict = "made up"
        once(till.charge, verdict)
        return {"verdict": verdict}

    graph = nested(app, depth, ran, eat_the_pause)
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["verdict?"]
    assert till.charged == []
    assert app.answer(graph, "fine")["verdict"] == "fine"


def test_two_questions_inside_are_answered_in_turn(app, depth, ran):
    def ask_twice(state):
        return {"verdict": interrupt("verdict?"), "second": interrupt("second?")}

    graph = nested(app, depth, ran, ask_twice)
    app.run(graph, {})
    app.answer(graph, "fine")
    result = app.answer(graph, "also fine")

    assert (result["verdict"], result["second"]) == ("fine", "also fine")


def test_the_child_s_own_state_can_be_read_while_it_waits(app, ran):
    def write(state):
        return {"draft": "dear ana"}

    child = child_graph(("write", write), ("ask", ask_for_a_verdict))
    graph = parent_graph(app, ("inner", child))
    app.run(graph, {})
    (task,) = app.state(graph, subgraphs=True).tasks

    assert task.state.values["draft"] == "dear ana"
    assert task.state.next == ("ask",)


def test_children_side_by_side_ask_together_and_get_their_own_answers(app):
    def ask_left(state):
        return {"verdict": interrupt("left?")}

    def ask_right(state):
        return {"second": interrupt("right?")}

    class Left(TypedDict, total=False):
        verdict: str

    class Right(TypedDict, total=False):
        second: str

    left = StateGraph(Left).add_node("ask", ask_left).add_edge(START, "ask").compile(name="left")
    right = (
        StateGraph(Right).add_node("ask", ask_right).add_edge(START, "ask").compile(name="right")
    )
    builder = StateGraph(Letter).add_node("left", left).add_node("right", right)
    builder.add_edge(START, "left").add_edge(START, "right")
    graph = app.compile(builder)
    ids = {question.value: question.id for question in app.run(graph, {}).interrupts}
    app.answer(graph, {ids["right?"]: "b"})
    result = app.answer(graph, {ids["left?"]: "a"})

    assert (result["verdict"], result["second"]) == ("a", "b")


# ------------------------------------------------------------------ graphs called by a function
@pytest.fixture(params=["a sync node", "an async node"])
def calling(request):
    """Make a node that calls a child graph in its own way and goes on with what it returned."""

    def make(child, then=lambda result: result):
        def call(state):
            return then(child.invoke({"draft": "dear ana"}))

        async def call_on_a_loop(state):
            return then(await child.ainvoke({"draft": "dear ana"}))

        return call if request.param == "a sync node" else call_on_a_loop

    return make


def test_a_question_in_a_called_graph_comes_out(app, calling):
    graph = parent_graph(app, ("call", calling(child_graph(("ask", ask_for_a_verdict)))))
    waiting = app.run(graph, {})
    assert [question.value for question in waiting.interrupts] == ["verdict?"]


def test_an_answer_goes_into_a_called_graph(app, calling):
    child = child_graph(("ask", ask_for_a_verdict))
    graph = parent_graph(
        app, ("call", calling(child, lambda result: {"second": result["verdict"]}))
    )
    app.run(graph, {})
    assert app.answer(graph, "fine")["second"] == "fine"


def test_a_called_graph_does_not_repeat_what_it_had_finished(app, calling, ran):
    def write(state):
        ran.append("write")

    child = child_graph(("write", write), ("ask", ask_for_a_verdict))
    graph = parent_graph(app, ("call", calling(child)))
    app.run(graph, {})
    app.answer(graph, "fine")
    assert ran == ["write"]


def test_a_called_graph_goes_on_with_the_input_of_its_first_pass(app):
    words = iter(["first words", "other words"])

    def ask(state):
        return {"verdict": f"{interrupt('fine?')}: {state['draft']}"}

    child = child_graph(("ask", ask))

    def call(state):
        return child.invoke({"draft": next(words)})

    graph = parent_graph(app, ("call", call))
    app.run(graph, {})
    assert app.answer(graph, "yes")["verdict"] == "yes: first words"


def test_a_called_graph_that_had_finished_is_not_run_again(app, calling, ran):
    def write(state):
        ran.append("write")
        return {"draft": "written"}

    def then_ask(result):
        return {"draft": result["draft"], "verdict": interrupt("fine?")}

    graph = parent_graph(app, ("call", calling(child_graph(("write", write)), then_ask)))
    app.run(graph, {})
    result = app.answer(graph, "yes")

    assert (result["draft"], result["verdict"]) == ("written", "yes")
    assert ran == ["write"]


def test_two_calls_of_one_graph_are_two_runs_of_it(app):
    def ask(state):
        return {"verdict": interrupt(f"{state['draft']}?")}

    child = child_graph(("ask", ask))

    def call_twice(state):
        first = child.invoke({"draft": "first"})
        second = child.invoke({"draft": "second"})
        return {"verdict": first["verdict"], "second": second["verdict"]}

    graph = parent_graph(app, ("call", call_twice))
    app.run(graph, {})
    app.answer(graph, "a")
    result = app.answer(graph, "b")

    assert (result["verdict"], result["second"]) == ("a", "b")


def test_a_function_that_eats_the_pause_of_a_called_graph_waits(app, till):
    child = child_graph(("ask", ask_for_a_verdict))

    def call(state):
        try:
            verdict = child.invoke({})["verdict"]
        except BaseException:
            verdict = "made up"
        once(till.charge, verdict)
        return {"verdict": verdict}

    graph = parent_graph(app, ("call", call))
    waiting = app.run(graph, {})

    assert [question.value for question in waiting.interrupts] == ["verdict?"]
    assert till.charged == []
    assert app.answer(graph, "fine")["verdict"] == "fine"


def test_an_effect_of_the_calling_function_is_not_repeated(app, till):
    child = child_graph(("ask", ask_for_a_verdict))

    def call(state):
        receipt = once(till.charge, 5)
        return {"verdict": f"{child.invoke({})['verdict']} with {receipt}"}

    graph = parent_graph(app, ("call", call))
    app.run(graph, {})

    assert app.answer(graph, "fine")["verdict"] == "fine with receipt 1"
    assert till.charged == [5]
