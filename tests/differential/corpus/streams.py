"""Streams: every mode, lists of modes, with subgraphs, at pauses and failures."""

from typing import Any

from ..registry import case, sync_case
from .states import Log, Mixed, ask, fail, graph_of, kept, line_of, say


def pausing(api: Any) -> Any:
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_node("c", say("c"))
    return kept(api, builder.add_edge("a", "b").add_edge("b", "c"))


@case
def a_stream_of_updates(api):
    kept(api, line_of(api, "a", "b")).stream({"log": []})


@case
def a_stream_of_values(api):
    kept(api, line_of(api, "a", "b")).stream({"log": ["in"]}, "values")


@case
def a_stream_of_values_of_an_input_that_writes_nothing(api):
    builder = api.StateGraph(Mixed).add_node("a", lambda s: {"n": 1}).add_edge(api.START, "a")
    talk = kept(api, builder)
    talk.stream({}, "values")
    talk.stream({"n": 0}, "values")


@case
def a_stream_of_tasks(api):
    kept(api, line_of(api, "a", "b")).stream({"log": ["in"]}, "tasks")


@case
def a_stream_of_checkpoints(api):
    kept(api, line_of(api, "a", "b")).stream({"log": ["in"]}, "checkpoints")


@case
def a_stream_of_debug_events(api):
    kept(api, line_of(api, "a", "b")).stream({"log": ["in"]}, "debug")


@case
def a_stream_of_two_modes(api):
    kept(api, line_of(api, "a", "b")).stream({"log": ["in"]}, ["values", "updates"])


@case
def a_stream_of_all_modes(api):
    kept(api, line_of(api, "a")).stream({"log": ["in"]}, ["values", "updates", "tasks", "custom"])


@case
def a_stream_of_one_mode_in_a_list(api):
    kept(api, line_of(api, "a")).stream({"log": []}, ["updates"])


@case
def a_stream_of_parallel_nodes(api):
    builder = graph_of(api, "a", "b", "end").add_edge(api.START, "a").add_edge(api.START, "b")
    talk = kept(api, builder.add_edge(["a", "b"], "end"))
    talk.stream({"log": []}, together="ab")
    talk.stream({"log": []}, "values")


@case
def a_stream_of_sends(api):
    builder = api.StateGraph(Log).add_node("w", lambda s: {"log": [f"w{s}"]})
    builder.add_conditional_edges(api.START, lambda s: [api.Send("w", i) for i in (1, 2)], ["w"])
    talk = kept(api, builder)
    talk.stream({"log": []}, together="w")
    talk.stream({"log": []}, "values")


@case
def a_node_with_a_stream_writer(api):
    def a(state: Log):
        write = api.get_stream_writer()
        write("started")
        write({"progress": 1})
        return {"log": ["a"]}

    talk = kept(api, api.StateGraph(Log).add_node("a", a).add_edge(api.START, "a"))
    talk.stream({"log": []}, "custom")
    talk.stream({"log": []}, ["custom", "updates"])
    talk.stream({"log": []}, "updates")
    talk.invoke({"log": []})


@case
def a_writer_as_a_parameter(api):
    def a(state: Log, writer):
        writer("by parameter")
        return {"log": ["a"]}

    talk = kept(api, api.StateGraph(Log).add_node("a", a).add_edge(api.START, "a"))
    talk.stream({"log": []}, "custom")


@case
def updates_of_a_pause_and_of_going_on(api):
    talk = pausing(api)
    talk.stream({"log": []})
    talk.stream(api.Command(resume="yes"))


@case
def values_of_a_pause_and_of_going_on(api):
    talk = pausing(api)
    talk.stream({"log": []}, "values")
    talk.stream(api.Command(resume="yes"), "values")


@case
def tasks_of_a_pause_and_of_going_on(api):
    talk = pausing(api)
    talk.stream({"log": []}, "tasks")
    talk.stream(api.Command(resume="yes"), "tasks")


@case
def checkpoints_of_a_pause_and_of_going_on(api):
    talk = pausing(api)
    talk.stream({"log": []}, "checkpoints")
    talk.stream(api.Command(resume="yes"), "checkpoints")


@case
def debug_events_of_a_pause(api):
    pausing(api).stream({"log": []}, "debug")


@case
def both_modes_of_a_pause(api):
    talk = pausing(api)
    talk.stream({"log": []}, ["updates", "values"])
    talk.stream(api.Command(resume="yes"), ["updates", "values"])


@case
def updates_of_two_open_questions(api):
    builder = (
        graph_of(api, "end")
        .add_node("left", ask(api, "left?"))
        .add_node("right", ask(api, "right?"))
    )
    builder.add_edge(api.START, "left").add_edge(api.START, "right").add_edge(
        ["left", "right"], "end"
    )
    talk = kept(api, builder)
    chunks = talk.stream({"log": []}, together=["__interrupt__"])
    asked = {q.value: q.id for chunk in chunks for q in chunk["__interrupt__"]}
    talk.stream(api.Command(resume={asked["right?"]: "R"}))
    talk.stream(api.Command(resume={asked["left?"]: "L"}))


@case
def updates_show_what_a_finished_sibling_wrote_before(api):
    builder = api.StateGraph(Log).add_node("asks", ask(api, "?")).add_node("quick", say("quick"))
    talk = kept(api, builder.add_edge(api.START, "asks").add_edge(api.START, "quick"))
    talk.stream({"log": []}, together=["asks", "quick", "__interrupt__"])
    talk.stream(api.Command(resume="!"))


@case
def tasks_of_a_failure(api):
    builder = line_of(api, "a").add_node("b", fail("boom")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.stream({"log": []}, "tasks")
    talk.stream({"log": []}, "updates")
    talk.stream({"log": []}, "values")


@case
def checkpoints_of_a_failure(api):
    builder = line_of(api, "a").add_node("b", fail("boom")).add_edge("a", "b")
    kept(api, builder).stream({"log": []}, "checkpoints")


@case
def updates_of_an_unfinished_command(api):
    node = lambda s: api.Command(goto="b")  # noqa: E731
    builder = graph_of(api, "b").add_node("a", node).add_edge(api.START, "a")
    kept(api, builder).stream({"log": []}, ["updates", "tasks"])


@case
def a_stream_of_messages_that_nodes_return(api):
    from langchain_core.messages import AIMessage, HumanMessage

    node = lambda s: {"messages": [AIMessage("hello", id="2")]}  # noqa: E731
    talk = kept(api, api.StateGraph(api.MessagesState).add_node("a", node).add_edge(api.START, "a"))
    talk.stream({"messages": [HumanMessage("hi", id="1")]}, "messages")


@case
def a_stream_of_messages_that_a_model_speaks(api):
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    model = GenericFakeChatModel(messages=iter([AIMessage("one two", id="m")]))

    def node(state: api.MessagesState):
        return {"messages": [model.invoke(state["messages"])]}

    talk = kept(api, api.StateGraph(api.MessagesState).add_node("a", node).add_edge(api.START, "a"))
    chunks = talk.stream({"messages": [HumanMessage("hi", id="1")]}, "updates")
    api.note("nodes", [list(chunk) for chunk in chunks])


# -------------------------------------------------------------------------------------- subgraphs
def nested(api: Any) -> Any:
    child = line_of(api, "one", "two").compile()
    builder = graph_of(api, "before").add_node("child", child).add_edge(api.START, "before")
    return kept(api, builder.add_edge("before", "child"))


@case
def updates_of_a_child_are_silent_by_default(api):
    nested(api).stream({"log": []})


@case
def updates_with_subgraphs(api):
    nested(api).stream({"log": []}, subgraphs=True)


@case
def values_with_subgraphs(api):
    nested(api).stream({"log": []}, "values", subgraphs=True)


@case
def two_modes_with_subgraphs(api):
    nested(api).stream({"log": []}, ["updates", "values"], subgraphs=True)


@case
def tasks_with_subgraphs(api):
    nested(api).stream({"log": []}, "tasks", subgraphs=True)


@case
def custom_events_of_a_child(api):
    def one(state: Log):
        api.get_stream_writer()("from the child")

    child = api.StateGraph(Log).add_node("one", one).add_edge(api.START, "one").compile()
    talk = kept(api, api.StateGraph(Log).add_node("child", child).add_edge(api.START, "child"))
    talk.stream({"log": []}, "custom")
    talk.stream({"log": []}, "custom", subgraphs=True)


@case
def updates_of_a_pause_in_a_child(api):
    builder = line_of(api, "one").add_node("asks", ask(api, "?")).add_edge("one", "asks")
    talk = kept(
        api, api.StateGraph(Log).add_node("child", builder.compile()).add_edge(api.START, "child")
    )
    talk.stream({"log": []})
    talk.stream(api.Command(resume="yes"), subgraphs=True)


@case
def updates_of_a_pause_in_a_child_with_subgraphs(api):
    builder = line_of(api, "one").add_node("asks", ask(api, "?")).add_edge("one", "asks")
    talk = kept(
        api, api.StateGraph(Log).add_node("child", builder.compile()).add_edge(api.START, "child")
    )
    talk.stream({"log": []}, subgraphs=True)
    talk.stream(api.Command(resume="yes"), "values", subgraphs=True)


@case
def invoke_with_a_stream_mode(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": []}, stream_mode="updates")
    talk.invoke({"log": []}, stream_mode=["updates", "values"])


@sync_case
def a_stream_that_is_closed_early_can_be_gone_on_with(api):
    talk = kept(api, line_of(api, "a", "b", "c"))
    stream = talk._graph.stream(
        {"log": []}, talk.config(), stream_mode="updates", durability="sync"
    )
    api.note("first", next(stream))
    stream.close()
    api.note("next", talk.state() is not None)
    talk.invoke(None)
