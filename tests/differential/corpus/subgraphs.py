"""Graphs inside graphs: as nodes, called in functions, with questions, breakpoints, commands."""

import operator
from typing import Annotated, Any, TypedDict

from ..registry import case
from .states import Log, Mixed, ask, graph_of, kept, line_of, say


class Inner(TypedDict):
    text: str
    steps: Annotated[list[str], operator.add]


def with_child(api: Any, child: Any, **options: Any) -> Any:
    """before -> child -> after."""
    builder = graph_of(api, "before", "after").add_node("child", child)
    builder.add_edge(api.START, "before").add_edge("before", "child").add_edge("child", "after")
    return kept(api, builder, **options)


def asking_child(api: Any, **options: Any) -> Any:
    """one -> asks -> two, as a compiled graph."""
    builder = line_of(api, "one").add_node("asks", ask(api, "?")).add_node("two", say("two"))
    return builder.add_edge("one", "asks").add_edge("asks", "two").compile(**options)


# ----------------------------------------------------------------------------------------- running
@case
def a_child_shares_the_state(api):
    talk = with_child(api, line_of(api, "one", "two").compile())
    talk.invoke({"log": ["in"]})
    talk.history()


@case
def a_child_that_replaces_its_keys(api):
    child = (
        api.StateGraph(Mixed)
        .add_node("one", lambda s: {"n": s["n"] + 1})
        .add_edge(api.START, "one")
    )
    builder = api.StateGraph(Mixed).add_node("child", child.compile()).add_edge(api.START, "child")
    kept(api, builder).invoke({"n": 1})


@case
def a_child_of_another_schema_with_a_shared_key(api):
    class Other(TypedDict):
        n: int
        hidden: str

    child = api.StateGraph(Other).add_node("one", lambda s: {"n": s["n"] * 10, "hidden": "h"})
    child = child.add_edge(api.START, "one").compile()
    talk = kept(api, api.StateGraph(Mixed).add_node("child", child).add_edge(api.START, "child"))
    talk.stream({"n": 4, "log": ["x"]})
    talk.state()


@case
def a_child_called_in_a_function(api):
    child = api.StateGraph(Inner).add_node(
        "one", lambda s: {"text": s["text"].upper(), "steps": ["one"]}
    )
    child = child.add_edge(api.START, "one").compile()

    def call(state: Log):
        result = child.invoke({"text": state["log"][-1], "steps": []})
        return {"log": [result["text"], *result["steps"]]}

    with_child(api, call).invoke({"log": ["in"]})


@case
def a_child_in_a_loop(api):
    builder = api.StateGraph(Log).add_node("child", line_of(api, "one").compile())
    builder.add_edge(api.START, "child")
    builder.add_conditional_edges("child", lambda s: "child" if len(s["log"]) < 6 else api.END)
    kept(api, builder).invoke({"log": ["in"]})


@case
def children_side_by_side(api):
    child = api.StateGraph(Inner).add_node("one", lambda s: {"steps": [s["text"]]})
    child = child.add_edge(api.START, "one").compile()
    builder = api.StateGraph(Inner).add_node("child", child)
    builder.add_conditional_edges(
        api.START, lambda s: [api.Send("child", {"text": t, "steps": []}) for t in "xy"], ["child"]
    )
    kept(api, builder).invoke({"steps": []})


@case
def children_side_by_side_that_share_only_a_reduced_key(api):
    class Words(TypedDict):
        steps: Annotated[list[str], operator.add]

    child = (
        api.StateGraph(Words)
        .add_node("one", lambda s: {"steps": ["one"]})
        .add_edge(api.START, "one")
    )
    builder = (
        api.StateGraph(Words).add_node("left", child.compile()).add_node("right", child.compile())
    )
    kept(api, builder.add_edge(api.START, "left").add_edge(api.START, "right")).invoke(
        {"steps": ["in"]}
    )


@case
def a_child_of_a_child(api):
    inner = line_of(api, "deep").compile()
    middle = (
        graph_of(api, "mid")
        .add_node("inner", inner)
        .add_edge(api.START, "mid")
        .add_edge("mid", "inner")
    )
    talk = with_child(api, middle.compile())
    talk.invoke({"log": []})
    talk.stream({"log": []}, subgraphs=True)


@case
def a_child_that_fails_once(api):
    tries = []

    def weak(state: Log):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("weak")
        return {"log": ["strong"]}

    child = line_of(api, "one").add_node("weak", weak).add_edge("one", "weak").compile()
    talk = with_child(api, child)
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(None)


@case
def the_recursion_limit_inside_a_child(api):
    builder = line_of(api, "one").add_conditional_edges("one", lambda s: "one")
    with_child(api, builder.compile()).invoke({"log": []}, config={"recursion_limit": 5})


# -------------------------------------------------------------------------------------- questions
@case
def a_child_asks(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(api.Command(resume="yes"))
    talk.state()
    talk.history()


@case
def the_state_of_a_waiting_child(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": ["in"]})
    talk.state(subgraphs=True)


@case
def the_history_of_a_waiting_child(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": ["in"]})
    child = talk.state().tasks[0].state
    talk.history(at=child)


@case
def a_child_that_asks_does_not_run_its_first_nodes_again(api):
    calls = []

    def one(state: Log):
        calls.append("one")
        return {"log": ["one"]}

    child = api.StateGraph(Log).add_node("one", one).add_node("asks", ask(api, "?"))
    child = child.add_edge(api.START, "one").add_edge("one", "asks").compile()
    talk = with_child(api, child)
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="yes"))
    api.note("calls", calls)


@case
def a_grandchild_asks(api):
    middle = graph_of(api, "mid").add_node("inner", asking_child(api)).add_edge(api.START, "mid")
    talk = with_child(api, middle.add_edge("mid", "inner").compile())
    talk.invoke({"log": []})
    talk.state(subgraphs=True)
    talk.invoke(api.Command(resume="yes"))
    talk.state()


@case
def a_child_called_in_a_function_asks(api):
    child = asking_child(api)
    calls = []

    def call(state: Log):
        calls.append(1)
        return {"log": child.invoke({"log": []})["log"]}

    talk = with_child(api, call)
    talk.invoke({"log": ["in"]})
    talk.state()
    talk.invoke(api.Command(resume="yes"))
    api.note("calls", len(calls))


@case
def the_state_of_a_child_called_in_a_function(api):
    child = asking_child(api)
    talk = with_child(api, lambda s: {"log": child.invoke({"log": []})["log"]})
    talk.invoke({"log": ["in"]})
    talk.state(subgraphs=True)


@case
def a_child_asks_twice(api):
    builder = api.StateGraph(Log).add_node("a", ask(api, "one?")).add_node("b", ask(api, "two?"))
    child = builder.add_edge(api.START, "a").add_edge("a", "b").compile()
    talk = with_child(api, child)
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume=1))
    talk.state()
    talk.invoke(api.Command(resume=2))


@case
def two_children_ask_side_by_side(api):
    builder = api.StateGraph(Log)
    for name in ("left", "right"):
        child = (
            api.StateGraph(Log).add_node("asks", ask(api, f"{name}?")).add_edge(api.START, "asks")
        )
        builder.add_node(name, child.compile()).add_edge(api.START, name)
    talk = kept(api, builder)
    waiting = talk.invoke({"log": []})
    ids = {question.value: question.id for question in waiting["__interrupt__"]}
    talk.invoke(api.Command(resume={ids["right?"]: "R"}))
    talk.state()
    talk.invoke(api.Command(resume={ids["left?"]: "L"}))


@case
def a_child_asks_beside_a_question_of_the_parent(api):
    builder = (
        api.StateGraph(Log).add_node("child", asking_child(api)).add_node("own", ask(api, "own?"))
    )
    talk = kept(api, builder.add_edge(api.START, "child").add_edge(api.START, "own"))
    waiting = talk.invoke({"log": []})
    ids = {question.value: question.id for question in waiting["__interrupt__"]}
    talk.invoke(api.Command(resume={ids["?"]: "C", ids["own?"]: "O"}))


@case
def none_while_a_child_waits(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": []})
    talk.invoke(None)
    talk.invoke(api.Command(resume="yes"))


# ------------------------------------------------------------------------------- persistence modes
@case
def a_child_forgets_between_invocations(api):
    seen = []

    def one(state: Inner):
        seen.append(list(state["steps"]))
        return {"steps": ["one"]}

    child = api.StateGraph(Inner).add_node("one", one).add_edge(api.START, "one").compile()
    builder = api.StateGraph(Mixed).add_node(
        "child", lambda s: {"n": len(child.invoke({"text": "t"})["steps"])}
    )
    talk = kept(api, builder.add_edge(api.START, "child"))
    talk.invoke({"n": 0})
    talk.invoke({"n": 0})
    api.note("seen", seen)


@case
def a_child_with_its_own_memory(api):
    seen = []

    def one(state: Inner):
        seen.append(list(state["steps"]))
        return {"steps": ["one"]}

    child = (
        api.StateGraph(Inner)
        .add_node("one", one)
        .add_edge(api.START, "one")
        .compile(checkpointer=True)
    )
    builder = api.StateGraph(Mixed).add_node(
        "child", lambda s: {"n": len(child.invoke({"text": "t"})["steps"])}
    )
    talk = kept(api, builder.add_edge(api.START, "child"))
    talk.invoke({"n": 0})
    talk.invoke({"n": 0})
    api.note("seen", seen)


@case
def a_child_node_with_its_own_memory(api):
    class Memory(TypedDict):
        n: int
        steps: Annotated[list[str], operator.add]

    child = api.StateGraph(Memory).add_node(
        "one", lambda s: {"n": len(s["steps"]), "steps": ["one"]}
    )
    child = child.add_edge(api.START, "one").compile(checkpointer=True)
    talk = kept(api, api.StateGraph(Mixed).add_node("child", child).add_edge(api.START, "child"))
    for _ in range(3):
        talk.invoke({"n": 0})


@case
def a_child_without_a_checkpointer(api):
    talk = with_child(api, line_of(api, "one").compile(checkpointer=False))
    talk.invoke({"log": []}, durability="async")  # LangGraph trips over "sync" here
    talk.state()


# --------------------------------------------------------------------------------- Command.PARENT
@case
def a_child_sends_its_parent_on(api):
    def one(state: Log):
        return api.Command(graph=api.Command.PARENT, update={"log": ["from child"]}, goto="there")

    child = line_of(api, "zero").add_node("one", one).add_edge("zero", "one").compile()
    builder = (
        graph_of(api, "there", "skipped").add_node("child", child).add_edge(api.START, "child")
    )
    talk = kept(api, builder)
    talk.stream({"log": []})
    talk.history()


@case
def a_child_sends_its_parent_on_beside_its_edge(api):
    def one(state: Log):
        return api.Command(graph=api.Command.PARENT, goto="there")

    child = api.StateGraph(Log).add_node("one", one).add_edge(api.START, "one").compile()
    builder = graph_of(api, "there", "edge").add_node("child", child).add_edge(api.START, "child")
    kept(api, builder.add_edge("child", "edge")).invoke({"log": []})


@case
def a_function_that_calls_a_child_passes_its_parent_command_on(api):
    def one(state: Log):
        return api.Command(graph=api.Command.PARENT, update={"log": ["up"]}, goto="there")

    child = api.StateGraph(Log).add_node("one", one).add_edge(api.START, "one").compile()
    builder = graph_of(api, "there").add_node("call", lambda s: child.invoke({"log": []}))
    kept(api, builder.add_edge(api.START, "call")).invoke({"log": []})


@case
def a_grandchild_sends_only_its_own_parent_on(api):
    def deep(state: Log):
        return api.Command(graph=api.Command.PARENT, update={"log": ["deep"]}, goto="mid")

    inner = api.StateGraph(Log).add_node("deep", deep).add_edge(api.START, "deep").compile()
    middle = graph_of(api, "mid").add_node("inner", inner).add_edge(api.START, "inner").compile()
    with_child(api, middle).invoke({"log": []})


# ----------------------------------------------------------------------------------- breakpoints
@case
def a_breakpoint_in_a_child(api):
    talk = with_child(api, line_of(api, "one", "two").compile(interrupt_before=["two"]))
    talk.stream({"log": []})
    talk.state(subgraphs=True)
    talk.invoke(None)


@case
def a_breakpoint_before_the_child(api):
    talk = with_child(api, line_of(api, "one").compile(), interrupt_before=["child"])
    talk.invoke({"log": []})
    talk.state()
    talk.invoke(None)


# --------------------------------------------------------------------------- updates and forks
@case
def update_the_state_of_a_waiting_child(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": ["in"]})
    child = talk.state().tasks[0].state
    talk.update({"log": ["edited"]}, at=child)
    talk.state(subgraphs=True)
    talk.invoke(api.Command(resume="yes"))


@case
def update_as_the_child_goes_on_behind_it(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": ["in"]})
    talk.update({"log": ["instead"]}, as_node="child")
    talk.state()
    talk.invoke(None)


@case
def a_replay_from_before_the_child(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="first"))
    before = next(s for s in talk.history() if s.next == ("child",))
    talk.invoke(None, at=before)
    talk.invoke(api.Command(resume="second"))
    talk.history()


@case
def a_replay_of_a_step_inside_the_child(api):
    talk = with_child(api, asking_child(api))
    talk.invoke({"log": []})
    inside = talk.history(at=talk.state().tasks[0].state)
    talk.invoke(api.Command(resume="first"))
    talk.invoke(None, at=inside[1])
    talk.state()
    talk.invoke(api.Command(resume="second"))
    talk.history()


@case
def a_replay_of_the_parents_step_starts_the_child_from_its_first_node(api):
    calls = []

    def one(state: Log):
        calls.append("one")
        return {"log": ["one"]}

    child = api.StateGraph(Log).add_node("one", one).add_node("asks", ask(api, "?"))
    talk = with_child(api, child.add_edge(api.START, "one").add_edge("one", "asks").compile())
    talk.invoke({"log": []})
    before = talk.state()
    talk.invoke(api.Command(resume="first"))
    talk.invoke(None, at=before)
    talk.invoke(api.Command(resume="second"))
    api.note("calls", calls)


# ------------------------------------------------------------------------------------- get_graph
@case
def subgraphs_are_listed(api):
    builder = (
        api.StateGraph(Log)
        .add_node("child", line_of(api, "one").compile())
        .add_edge(api.START, "child")
    )
    graph = builder.compile()
    api.attempt("subgraphs", lambda: [name for name, _ in graph.get_subgraphs()])
