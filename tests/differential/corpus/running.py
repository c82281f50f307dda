"""Running: configs, threads, batches, durability, context, async nodes, drawing."""

import asyncio
from dataclasses import dataclass
from typing import Any

from ..registry import async_case, case, sync_case
from .states import Log, ask, graph_of, kept, line_of, say


@case
def the_config_is_injected_by_name(api):
    seen = {}

    def a(state: Log, config):
        seen.update({key: config["configurable"].get(key) for key in ("thread_id", "flavour")})

    talk = kept(api, api.StateGraph(Log).add_node("a", a).add_edge(api.START, "a"))
    talk.invoke({"log": []}, config={"configurable": {"thread_id": "t", "flavour": "plum"}})
    api.note("seen", seen)


@case
def get_config_inside_a_node(api):
    seen = []

    def a(state: Log):
        seen.append(api.get_config()["configurable"]["thread_id"])

    kept(api, api.StateGraph(Log).add_node("a", a).add_edge(api.START, "a")).invoke({"log": []})
    api.note("seen", seen)


@case
def get_config_outside_of_a_node(api):
    api.attempt("get_config", api.get_config)


@case
def a_thread_id_becomes_text(api):
    talk = api.talk(line_of(api, "a").compile(checkpointer=api.checkpointer()), thread=7)
    talk.invoke({"log": []})
    talk.state()


@case
def the_runtime_and_its_context(api):
    @dataclass
    class Context:
        name: str

    def a(state: Log, runtime: api.Runtime[Context]):
        return {"log": [f"hello {runtime.context.name}"]}

    builder = api.StateGraph(Log, context_schema=Context).add_node("a", a).add_edge(api.START, "a")
    kept(api, builder).invoke({"log": []}, context=Context(name="Ada"))
    kept(api, builder).invoke({"log": []}, context={"name": "Bo"})


@case
def get_runtime_inside_a_node(api):
    def a(state: Log):
        return {"log": [str(api.get_runtime().context)]}

    kept(api, api.StateGraph(Log).add_node("a", a).add_edge(api.START, "a")).invoke(
        {"log": []}, context={"k": 1}
    )


@case
def with_config_keeps_a_config(api):
    graph = line_of(api, "a").compile(checkpointer=api.checkpointer())
    bound = graph.with_config({"configurable": {"thread_id": "bound"}})
    api.talk(bound, None).invoke({"log": ["in"]})
    api.talk(graph, "bound").state()


@case
def with_config_and_a_recursion_limit(api):
    builder = line_of(api, "a").add_conditional_edges("a", lambda s: "a")
    graph = builder.compile().with_config(recursion_limit=4)
    api.talk(graph, None).invoke({"log": []})


@case
def a_batch(api):
    talk = api.talk(line_of(api, "a").compile(checkpointer=api.checkpointer()))
    configs = [{"configurable": {"thread_id": name}} for name in ("x", "y")]
    talk.batch([{"log": ["1"]}, {"log": ["2"]}], configs)


@case
def threads_know_nothing_of_each_other(api):
    graph = line_of(api, "a").compile(checkpointer=api.checkpointer())
    one, two = api.talk(graph, "one"), api.talk(graph, "two")
    one.invoke({"log": ["1"]})
    two.invoke({"log": ["2"]})
    one.invoke({"log": ["3"]})
    one.state()
    two.state()


@case
def no_thread_although_there_is_a_checkpointer(api):
    api.talk(line_of(api, "a").compile(checkpointer=api.checkpointer()), None).invoke({"log": []})


@case
def two_graphs_on_one_store(api):
    store = api.checkpointer()
    one, two = (line_of(api, name).compile(checkpointer=store) for name in "xy")
    api.talk(one, "one").invoke({"log": []})
    api.talk(two, "two").invoke({"log": []})
    api.talk(one, "one").invoke({"log": []})


@case
def durability_async(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []}, durability="async")
    talk.invoke(api.Command(resume="yes"), durability="async")
    api.note("steps", [(s.metadata["source"], s.metadata["step"], s.next) for s in talk.history()])


@case
def durability_exit(api):
    talk = kept(api, line_of(api, "a", "b", "c"))
    talk.invoke({"log": []}, durability="exit")
    talk.history()
    talk.invoke({"log": ["more"]}, durability="exit")
    talk.history()


@case
def durability_exit_at_a_pause(api):
    builder = line_of(api, "a").add_node("b", ask(api, "?")).add_node("c", say("c"))
    talk = kept(api, builder.add_edge("a", "b").add_edge("b", "c"))
    talk.invoke({"log": []}, durability="exit")
    talk.state()
    talk.invoke(api.Command(resume="yes"), durability="exit")
    talk.history()


@case
def delete_a_thread(api):
    store = api.checkpointer()
    graph = line_of(api, "a").compile(checkpointer=store)
    talk = api.talk(graph)
    talk.invoke({"log": []})
    remove = getattr(graph, "delete_thread", None) or (
        store.adelete_thread if api.is_async else store.delete_thread
    )
    outcome = remove("t")
    if asyncio.iscoroutine(outcome):
        api.wait(outcome)
    talk.state()
    talk.invoke({"log": ["anew"]})


@case
def the_name_of_a_graph(api):
    api.note("name", line_of(api, "a").compile(name="ledger").name)


@case
def a_node_without_parameters_for_the_state(api):
    def a(state):
        return {"log": ["untyped"]}

    kept(api, api.StateGraph(Log).add_node(a).add_edge(api.START, "a")).invoke({"log": []})


@case
def a_method_and_a_callable_object_as_nodes(api):
    class Worker:
        def work(self, state: Log):
            return {"log": ["method"]}

        def __call__(self, state: Log):
            return {"log": ["object"]}

    builder = api.StateGraph(Log).add_node("m", Worker().work).add_node("o", Worker())
    api.talk(builder.add_edge(api.START, "m").add_edge("m", "o").compile(), None).invoke(
        {"log": []}
    )


@case
def a_partial_as_a_node(api):
    from functools import partial

    def work(word: str, state: Log):
        return {"log": [word]}

    builder = api.StateGraph(Log).add_node("p", partial(work, "part"))
    api.talk(builder.add_edge(api.START, "p").compile(), None).invoke({"log": []})


@async_case
def async_nodes(api):
    async def a(state: Log):
        await asyncio.sleep(0)
        return {"log": ["a"]}

    async def where(state: Log) -> str:
        return "b"

    builder = graph_of(api, "b").add_node("a", a).add_edge(api.START, "a")
    talk = kept(api, builder.add_conditional_edges("a", where, ["b"]))
    talk.invoke({"log": []})
    talk.history()


@async_case
def async_nodes_side_by_side(api):
    inside, most = [], []

    async def w(state: Any):
        inside.append(1)
        most.append(len(inside))
        await asyncio.sleep(0.01)
        inside.pop()
        return {"log": [str(state)]}

    builder = api.StateGraph(Log).add_node("w", w)
    builder.add_conditional_edges(api.START, lambda s: [api.Send("w", i) for i in range(6)], ["w"])
    graph = builder.compile()
    api.talk(graph, None).invoke({"log": []}, config={"max_concurrency": 2})
    api.note("at once", max(most))
    most.clear()
    api.talk(graph, None).invoke({"log": []})
    api.note("at once", max(most))


@async_case
def an_async_child(api):
    async def one(state: Log):
        return {"log": [f"one {api.interrupt('?')}"]}

    child = api.StateGraph(Log).add_node("one", one).add_edge(api.START, "one").compile()

    async def call(state: Log):
        return {"log": (await child.ainvoke({"log": []}))["log"]}

    talk = kept(api, api.StateGraph(Log).add_node("call", call).add_edge(api.START, "call"))
    talk.invoke({"log": []})
    talk.invoke(api.Command(resume="yes"))


@sync_case
def an_async_node_in_a_sync_call(api):
    async def a(state: Log):
        return {"log": ["a"]}

    kept(api, api.StateGraph(Log).add_node("a", a).add_edge(api.START, "a")).invoke({"log": []})


# ---------------------------------------------------------------------------------------- drawing
def drawn(graph: Any) -> Any:
    picture = graph.get_graph()
    edges = sorted((edge.source, edge.target, bool(edge.conditional)) for edge in picture.edges)
    return sorted(picture.nodes), edges


@sync_case
def the_drawing_of_a_line(api):
    api.attempt("drawing", lambda: drawn(line_of(api, "a", "b").compile()))
    builder = line_of(api, "a", "b").add_edge("b", api.END)
    api.attempt("drawing", lambda: drawn(builder.compile()))


@sync_case
def the_drawing_of_branches_and_joins(api):
    builder = graph_of(api, "a", "b", "end").add_edge(api.START, "a").add_edge(api.START, "b")
    builder.add_edge(["a", "b"], "end").add_edge("end", api.END)
    api.attempt("drawing", lambda: drawn(builder.compile()))


@sync_case
def the_drawing_of_conditional_edges(api):
    builder = graph_of(api, "a", "b", "c").add_edge(api.START, "a")
    builder.add_conditional_edges("a", lambda s: "b", {"yes": "b", "no": api.END})
    builder.add_conditional_edges("b", lambda s: "c", ["c"])
    api.attempt("drawing", lambda: drawn(builder.compile()))


@sync_case
def the_drawing_of_destinations(api):
    builder = graph_of(api, "b", "c")
    builder.add_node("a", lambda s: api.Command(goto="b"), destinations=("b", "c"))
    api.attempt("drawing", lambda: drawn(builder.add_edge(api.START, "a").compile()))
