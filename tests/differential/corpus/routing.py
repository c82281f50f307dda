"""Where a graph goes next: conditional edges, Send, Command."""

import operator
from typing import Annotated, Any, Literal, TypedDict

from ..registry import case
from .states import Count, Log, Mixed, graph_of, kept, line_of, say


# ------------------------------------------------------------------------------ conditional edges
@case
def a_conditional_edge_with_a_map(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: len(s["log"]) > 1, {True: "b", False: api.END})
    talk = api.talk(builder.compile(), None)
    talk.invoke({"log": []})
    talk.invoke({"log": ["x"]})


@case
def a_conditional_edge_without_a_map(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: "b" if len(s["log"]) > 1 else api.END)
    talk = api.talk(builder.compile(), None)
    talk.invoke({"log": []})
    talk.invoke({"log": ["x"]})


@case
def a_conditional_edge_with_a_list_as_map(api):
    builder = graph_of(api, "a", "b", "c").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: "c", ["b", "c"])
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_that_returns_a_list(api):
    builder = graph_of(api, "a", "b", "c").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: ["b", "c"])
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_that_returns_an_empty_list(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: [], ["b"])
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()


@case
def a_conditional_edge_from_the_start(api):
    builder = graph_of(api, "a", "b")
    builder.add_conditional_edges(api.START, lambda s: s["log"][0], {"x": "a", "y": "b"})
    talk = kept(api, builder)
    talk.invoke({"log": ["y"]})
    talk.history()


@case
def a_conditional_entry_point(api):
    builder = graph_of(api, "a", "b")
    builder.set_conditional_entry_point(lambda s: "b")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_straight_to_the_end(api):
    builder = graph_of(api, "a")
    builder.add_conditional_edges(api.START, lambda s: api.END, {api.END: api.END, "a": "a"})
    talk = kept(api, builder)
    talk.invoke({"log": ["in"]})
    talk.history()


@case
def two_conditional_edges_on_one_node(api):
    def one(state: Log) -> str:
        return "b"

    def two(state: Log) -> str:
        return "c"

    builder = graph_of(api, "a", "b", "c").add_edge(api.START, "a")
    builder.add_conditional_edges("a", one).add_conditional_edges("a", two)
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_beside_a_plain_one(api):
    builder = graph_of(api, "a", "b", "c").add_edge(api.START, "a").add_edge("a", "b")
    builder.add_conditional_edges("a", lambda s: "c")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def two_edges_to_one_node_run_it_once(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a").add_edge("a", "b")
    builder.add_conditional_edges("a", lambda s: "b")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_sees_its_own_nodes_writes_and_not_the_siblings(api):
    seen = []

    def route(state: Log) -> str:
        seen.append(list(state["log"]))
        return api.END

    builder = graph_of(api, "a", "b").add_edge(api.START, "a").add_edge(api.START, "b")
    builder.add_conditional_edges("b", route)
    api.talk(builder.compile(), None).invoke({"log": ["in"]})
    api.note("seen", seen)


@case
def an_unknown_target_of_a_conditional_edge(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: "nowhere", {"b": "b"})
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()


@case
def an_unknown_target_without_a_map(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: "nowhere")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_that_returns_none(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: None)
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_with_literal_results(api):
    def route(state: Log) -> Literal["b", "c"]:
        return "c"

    builder = (
        graph_of(api, "a", "b", "c").add_edge(api.START, "a").add_conditional_edges("a", route)
    )
    api.talk(builder.compile(), None).invoke({"log": []})


# ------------------------------------------------------------------------------------------- Send
class Jokes(TypedDict):
    subjects: list[str]
    jokes: Annotated[list[str], operator.add]


def joking(api: Any) -> Any:
    def joke(state: Any) -> dict[str, list[str]]:
        return {"jokes": [f"about {state['subject']}"]}

    def fan_out(state: Jokes) -> list[Any]:
        return [api.Send("joke", {"subject": s}) for s in state["subjects"]]

    def best(state: Jokes) -> dict[str, list[str]]:
        return {"jokes": [f"best of {len(state['jokes'])}"]}

    builder = api.StateGraph(Jokes).add_node("joke", joke).add_node("best", best)
    builder.add_conditional_edges(api.START, fan_out, ["joke"]).add_edge("joke", "best")
    return builder


@case
def map_and_reduce_by_sends(api):
    talk = kept(api, joking(api))
    talk.invoke({"subjects": ["c", "a", "b"]})
    talk.history()


@case
def sends_to_nobody(api):
    talk = kept(api, joking(api))
    talk.invoke({"subjects": []})
    talk.state()


@case
def a_single_send_not_in_a_list(api):
    builder = graph_of(api, "a").add_node("b", lambda s: {"log": [f"b got {s}"]})
    builder.add_edge(api.START, "a").add_conditional_edges("a", lambda s: api.Send("b", "anything"))
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def sends_and_names_in_one_list(api):
    builder = graph_of(api, "a", "b").add_node("c", lambda s: {"log": [f"c{s}"]})
    builder.add_edge(api.START, "a")
    builder.add_conditional_edges(
        "a", lambda s: [api.Send("c", 2), "b", api.Send("c", 1)], ["b", "c"]
    )
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.history()


@case
def a_node_by_edge_and_by_send_in_one_step(api):
    builder = graph_of(api, "a").add_node("b", lambda s: {"log": [f"b{len(s['log'])}"]})
    builder.add_edge(api.START, "a").add_edge("a", "b")
    builder.add_conditional_edges("a", lambda s: [api.Send("b", {"log": ["x"] * 7})], ["b"])
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def sends_from_two_nodes_keep_the_order_of_the_nodes(api):
    builder = graph_of(api, "a", "b").add_node("w", lambda s: {"log": [s]})
    builder.add_edge(api.START, "a").add_edge(api.START, "b")
    builder.add_conditional_edges("b", lambda s: [api.Send("w", "b1"), api.Send("w", "b2")], ["w"])
    builder.add_conditional_edges("a", lambda s: [api.Send("w", "a1")], ["w"])
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_send_to_an_unknown_node(api):
    builder = graph_of(api, "a").add_conditional_edges(
        api.START, lambda s: [api.Send("nowhere", {})]
    )
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_send_to_the_end(api):
    builder = graph_of(api, "a").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: [api.Send(api.END, {})])
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def sends_with_a_concurrency_limit(api):
    talk = api.talk(joking(api).compile(), None)
    talk.invoke({"subjects": list("fedcba")}, config={"max_concurrency": 2})


# ---------------------------------------------------------------------------------------- Command
def returning(make: Any) -> Any:
    def node(state: Any) -> Any:
        return make(state)

    return node


@case
def a_command_updates_and_goes(api):
    builder = graph_of(api, "b", "c")
    builder.add_node("a", returning(lambda s: api.Command(update={"log": ["a"]}, goto="c")))
    talk = kept(api, builder.add_edge(api.START, "a"))
    talk.invoke({"log": []})
    talk.history()


@case
def a_command_with_a_goto_adds_to_a_plain_edge(api):
    builder = graph_of(api, "b", "c").add_node("a", returning(lambda s: api.Command(goto="c")))
    builder.add_edge(api.START, "a").add_edge("a", "b")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_command_goes_where_the_edge_goes_too(api):
    builder = graph_of(api, "b").add_node("a", returning(lambda s: api.Command(goto="b")))
    builder.add_edge(api.START, "a").add_edge("a", "b")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_command_goes_to_several(api):
    builder = graph_of(api, "b", "c").add_node(
        "a", returning(lambda s: api.Command(goto=["c", "b"]))
    )
    talk = kept(api, builder.add_edge(api.START, "a"))
    talk.invoke({"log": []})
    talk.history()


@case
def a_command_goes_by_sends(api):
    builder = api.StateGraph(Log).add_node("b", lambda s: {"log": [f"b{s}"]})
    go = [api.Send("b", 1), api.Send("b", 2)]
    builder.add_node("a", returning(lambda s: api.Command(update={"log": ["a"]}, goto=go)))
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke({"log": []})


@case
def a_command_goes_by_one_send_and_a_name(api):
    builder = graph_of(api, "c").add_node("b", lambda s: {"log": [f"b{s}"]})
    builder.add_node("a", returning(lambda s: api.Command(goto=[api.Send("b", 1), "c"])))
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke({"log": []})


@case
def a_command_goes_to_the_end(api):
    builder = graph_of(api).add_node("a", returning(lambda s: api.Command({}, goto=api.END)))
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke({"log": []})
    builder = graph_of(api).add_node("a", returning(lambda s: api.Command(goto=api.END)))
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke({"log": ["in"]})


@case
def a_command_to_an_unknown_node(api):
    builder = graph_of(api, "b").add_node("a", returning(lambda s: api.Command(goto="nowhere")))
    talk = kept(api, builder.add_edge(api.START, "a"))
    talk.invoke({"log": []})
    talk.state()


@case
def an_empty_command(api):
    builder = graph_of(api, "b").add_node("a", returning(lambda s: api.Command()))
    api.talk(builder.add_edge(api.START, "a").add_edge("a", "b").compile(), None).stream(
        {"log": []}
    )


@case
def a_list_of_commands(api):
    both = [
        api.Command(update={"log": ["one"]}, goto="b"),
        api.Command(update={"log": ["two"]}, goto="c"),
    ]
    builder = graph_of(api, "b", "c").add_node("a", returning(lambda s: both))
    talk = kept(api, builder.add_edge(api.START, "a"))
    talk.stream({"log": []}, together="bc")
    talk.history()


@case
def a_command_and_a_dict_in_one_list(api):
    both = [{"log": ["dict"]}, api.Command(update={"log": ["command"]}, goto="b")]
    builder = graph_of(api, "b").add_node("a", returning(lambda s: both))
    api.talk(builder.add_edge(api.START, "a").compile(), None).stream({"log": []})


@case
def a_command_updates_by_pairs(api):
    pairs = [("log", ["one"]), ("log", ["two"])]
    builder = graph_of(api).add_node("a", returning(lambda s: api.Command(update=pairs)))
    talk = kept(api, builder.add_edge(api.START, "a"))
    talk.invoke({"log": []})
    talk.history()


@case
def an_annotated_command(api):
    def a(state: Log) -> api.Command[Literal["b", "c"]]:
        return api.Command(goto="c")

    builder = graph_of(api, "b", "c").add_node("a", a).add_edge(api.START, "a")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_conditional_edge_sees_what_a_command_wrote(api):
    builder = graph_of(api, "b", "c")
    builder.add_node("a", returning(lambda s: api.Command(update={"log": ["a"]})))
    builder.add_edge(api.START, "a").add_conditional_edges("a", lambda s: "c" if s["log"] else "b")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def a_loop_made_of_commands(api):
    def step(state: Count) -> Any:
        n = state["n"] + 1
        return api.Command(update={"n": n}, goto="step" if n < 3 else api.END)

    talk = kept(api, api.StateGraph(Count).add_node("step", step).add_edge(api.START, "step"))
    talk.invoke({"n": 0})
    talk.history()


# -------------------------------------------------------------------- Command as a call's input
@case
def a_command_as_the_first_input(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke(api.Command(goto="b"))
    talk.history()


@case
def a_command_with_an_update_as_the_first_input(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke(api.Command(update={"log": ["in"]}))


@case
def a_command_as_the_input_of_a_finished_thread(api):
    talk = kept(api, line_of(api, "a", "b"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(goto="b"))
    talk.history()


@case
def a_command_that_only_updates_a_finished_thread(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(update={"log": ["more"]}))
    talk.history()


@case
def a_command_with_sends_as_input(api):
    builder = (
        api.StateGraph(Mixed).add_node("a", say("a")).add_node("w", lambda s: {"log": [f"w{s}"]})
    )
    talk = kept(api, builder.add_edge(api.START, "a"))
    talk.invoke({"log": [], "n": 1})
    talk.invoke(api.Command(goto=[api.Send("w", 1), api.Send("w", 2)]))
    talk.state()


@case
def a_command_to_an_unknown_node_as_input(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(goto="nowhere"))
    talk.state()


@case
def a_resume_where_nothing_waits(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="to nobody"))
    talk.state()


@case
def a_resume_on_a_thread_that_never_started(api):
    talk = kept(api, line_of(api, "a"))
    talk.invoke(api.Command(resume="to nobody"))


@case
def a_parent_command_at_top_level(api):
    up = api.Command(graph=api.Command.PARENT, update={"log": ["up"]}, goto="b")
    builder = graph_of(api, "b").add_node("a", returning(lambda s: up)).add_edge(api.START, "a")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()
