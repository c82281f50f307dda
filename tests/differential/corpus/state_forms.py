"""Forms of state: reducers, schemas, keys, messages."""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from pydantic import BaseModel

from ..registry import case
from .states import Log, Mixed, graph_of, kept, line_of, say


def one(api: Any, schema: Any, node: Any, **forms: Any) -> Any:
    """A graph of one node over `schema`."""
    return api.StateGraph(schema, **forms).add_node("a", node).add_edge(api.START, "a")


# --------------------------------------------------------------------------------------- reducers
@case
def a_key_without_a_reducer_is_replaced(api):
    talk = kept(api, one(api, Mixed, lambda s: {"n": 2}))
    talk.invoke({"n": 1})
    talk.invoke({"n": 5, "log": ["x"]})


@case
def reducers_that_add_numbers_strings_dicts_and_sets(api):
    class State(TypedDict):
        total: Annotated[int, operator.add]
        text: Annotated[str, operator.add]
        both: Annotated[dict, lambda a, b: {**a, **b}]
        tags: Annotated[set, operator.or_]

    written = {"total": 2, "text": "b", "both": {"y": 2}, "tags": {"q"}}
    talk = kept(api, one(api, State, lambda s: written))
    talk.invoke({"total": 1, "text": "a", "both": {"x": 1}, "tags": {"p"}})
    talk.invoke({})
    talk.state()


@case
def reduced_keys_start_as_their_types_empty_value(api):
    class State(TypedDict):
        total: Annotated[int, operator.add]
        items: Annotated[list, operator.add]
        plain: int

    seen = []
    talk = kept(api, one(api, State, lambda s: seen.append(dict(s))))
    talk.invoke({"total": 4})
    api.note("seen", seen)
    talk.state()


@case
def a_reducer_that_keeps_the_larger(api):
    class State(TypedDict):
        best: Annotated[int, lambda left, right: max(left, right)]

    talk = kept(api, one(api, State, lambda s: {"best": 3}))
    talk.invoke({"best": 5})
    talk.invoke({"best": 1})


@case
def a_custom_reducer_over_parallel_writes(api):
    def join_sorted(left: list, right: list) -> list:
        return sorted(left + right)

    class State(TypedDict):
        log: Annotated[list[str], join_sorted]

    builder = api.StateGraph(State).add_node("a", say("z")).add_node("b", say("c"))
    builder.add_edge(api.START, "a").add_edge(api.START, "b")
    api.talk(builder.compile(), None).invoke({"log": ["m"]})


@case
def a_reducer_that_raises(api):
    def refuse(left: list, right: list) -> list:
        if "bad" in right:
            raise ValueError("not that")
        return left + right

    class State(TypedDict):
        log: Annotated[list[str], refuse]

    talk = kept(api, one(api, State, say("bad")))
    talk.invoke({"log": ["in"]})


@case
def two_annotations_and_the_last_is_the_reducer(api):
    class State(TypedDict):
        log: Annotated[list[str], "about the log", operator.add]

    api.talk(one(api, State, say("a")).compile(), None).invoke({"log": ["in"]})


@case
def overwrite_bypasses_the_reducer(api):
    talk = kept(api, one(api, Log, lambda s: {"log": api.Overwrite(["only"])}))
    talk.invoke({"log": ["in"]})
    talk.invoke({"log": ["more"]})
    talk.history()


@case
def overwrite_in_the_input(api):
    talk = kept(api, one(api, Log, say("a")))
    talk.invoke({"log": ["one"]})
    talk.invoke({"log": api.Overwrite(["new"])})


@case
def an_overwrite_beside_a_plain_write(api):
    builder = api.StateGraph(Log).add_node("a", lambda s: {"log": api.Overwrite(["only"])})
    builder.add_node("b", say("b")).add_edge(api.START, "a").add_edge(api.START, "b")
    api.talk(builder.compile(), None).invoke({"log": ["in"]})


@case
def two_overwrites_in_one_step(api):
    builder = api.StateGraph(Log).add_node("a", lambda s: {"log": api.Overwrite(["a"])})
    builder.add_node("b", lambda s: {"log": api.Overwrite(["b"])})
    builder.add_edge(api.START, "a").add_edge(api.START, "b")
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def an_overwrite_of_a_key_without_a_reducer(api):
    api.talk(one(api, Mixed, lambda s: {"n": api.Overwrite(9)}).compile(), None).invoke({"n": 1})


# ------------------------------------------------------------------------------------------- keys
@case
def a_plain_key_written_twice_in_one_step(api):
    builder = (
        api.StateGraph(Mixed).add_node("a", lambda s: {"n": 1}).add_node("b", lambda s: {"n": 2})
    )
    talk = kept(api, builder.add_edge(api.START, "a").add_edge(api.START, "b"))
    talk.invoke({"log": ["in"]})
    talk.state()


@case
def a_plain_key_written_twice_by_sends(api):
    builder = api.StateGraph(Mixed).add_node("w", lambda s: {"n": s})
    builder.add_conditional_edges(api.START, lambda s: [api.Send("w", 1), api.Send("w", 2)], ["w"])
    api.talk(builder.compile(), None).invoke({"log": []})


@case
def an_absent_key_is_absent_for_the_node(api):
    seen = []
    api.talk(one(api, Mixed, lambda s: seen.append(dict(s))).compile(), None).invoke({"log": ["x"]})
    api.note("seen", seen)


@case
def a_node_that_reads_an_absent_key(api):
    talk = kept(api, one(api, Mixed, lambda s: {"n": s["n"] + 1}))
    talk.invoke({"log": []})
    talk.invoke({"n": 1})


@case
def an_unknown_key_in_the_input(api):
    api.talk(one(api, Log, say("a")).compile(), None).invoke({"log": [], "nonsense": 1})


@case
def only_unknown_keys_in_the_input(api):
    api.talk(one(api, Log, say("a")).compile(), None).invoke({"nonsense": 1})


@case
def an_unknown_key_in_an_update(api):
    talk = kept(api, one(api, Log, lambda s: {"log": ["a"], "nonsense": 1}))
    talk.stream({"log": []})
    talk.history()


@case
def an_unknown_key_in_a_command(api):
    node = lambda s: api.Command(update={"nonsense": 1, "log": ["a"]})  # noqa: E731
    api.talk(one(api, Log, node).compile(), None).invoke({"log": []})


@case
def a_node_that_returns_a_number(api):
    talk = kept(api, one(api, Log, lambda s: 3))
    talk.invoke({"log": []})
    talk.state()


@case
def a_node_that_returns_a_list_of_dicts(api):
    api.talk(one(api, Log, lambda s: [{"log": ["a"]}]).compile(), None).invoke({"log": []})


@case
def a_node_that_returns_an_empty_dict(api):
    talk = kept(api, one(api, Log, lambda s: {}))
    talk.stream({"log": ["in"]})
    talk.state()


@case
def an_input_that_is_no_mapping(api):
    api.talk(one(api, Log, say("a")).compile(), None).invoke(["log"])
    api.talk(one(api, Log, say("a")).compile(), None).invoke("log")


@case
def none_is_a_value(api):
    talk = kept(api, one(api, Mixed, lambda s: {"n": None}))
    talk.invoke({"n": 1})
    talk.state()


# -------------------------------------------------------------------------------- dataclass states
@dataclass
class Data:
    log: Annotated[list[str], operator.add] = field(default_factory=list)
    n: int = 7


@case
def a_dataclass_state(api):
    seen = []

    def node(state: Data):
        seen.append((type(state).__name__, state.n, list(state.log)))
        return {"log": ["a"], "n": state.n + 1}

    talk = kept(api, one(api, Data, node))
    talk.invoke({"log": ["in"]})
    talk.invoke(Data(log=["as object"], n=1))
    talk.state()
    api.note("seen", seen)


@case
def a_node_that_returns_a_dataclass(api):
    talk = kept(api, one(api, Data, lambda s: Data(log=["a"])))
    talk.invoke({"log": ["in"], "n": 3})
    talk.history()


@case
def a_dataclass_without_a_default_that_is_absent(api):
    @dataclass
    class Strict:
        n: int
        m: int = 2

    api.talk(one(api, Strict, lambda s: {"n": s.n + 1}).compile(), None).invoke({"n": 1})
    api.talk(one(api, Strict, lambda s: {"n": s.n + 1}).compile(), None).invoke({"m": 1})


# --------------------------------------------------------------------------------- pydantic states
class Model(BaseModel):
    log: Annotated[list[str], operator.add] = []
    n: int = 7


@case
def a_pydantic_state(api):
    seen = []

    def node(state: Model):
        seen.append((type(state).__name__, state.n, list(state.log)))
        return {"log": ["a"], "n": state.n + 1}

    talk = kept(api, one(api, Model, node))
    talk.invoke({"log": ["in"], "n": "41"})
    talk.invoke(Model(log=["as object"]))
    talk.state()
    api.note("seen", seen)


@case
def a_pydantic_state_refuses_an_input(api):
    talk = kept(api, one(api, Model, lambda s: {"n": 1}))
    talk.invoke({"n": "not a number"})
    talk.state()


@case
def a_pydantic_state_refuses_what_a_node_wrote(api):
    builder = one(api, Model, lambda s: {"n": "not a number"}).add_node(
        "b", lambda s: {"log": ["b"]}
    )
    talk = kept(api, builder.add_edge("a", "b"))
    talk.invoke({"n": 1})
    talk.state()


@case
def a_node_that_returns_a_pydantic_object(api):
    talk = kept(api, one(api, Model, lambda s: Model(log=["a"])))
    talk.invoke({"log": ["in"], "n": 3})


@case
def a_nested_pydantic_value(api):
    class Inner(BaseModel):
        x: int

    class Outer(BaseModel):
        inner: Inner

    talk = kept(api, one(api, Outer, lambda s: {"inner": Inner(x=s.inner.x + 1)}))
    talk.invoke({"inner": {"x": 1}})


# ------------------------------------------------------------------------------------ other forms
@case
def a_bare_annotated_state(api):
    builder = api.StateGraph(Annotated[list, operator.add])
    builder.add_node("a", lambda s: [f"a{len(s)}"]).add_node("b", lambda s: [f"b{len(s)}"])
    talk = kept(api, builder.add_edge(api.START, "a").add_edge("a", "b"))
    talk.invoke(["in"])
    talk.state()
    talk.stream(["again"])
    talk.stream(["again"], "values")


@case
def a_bare_state_with_a_command(api):
    builder = api.StateGraph(Annotated[list, operator.add])
    builder.add_node("a", lambda s: api.Command(update=["a"], goto="b")).add_node(
        "b", lambda s: ["b"]
    )
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke(["in"])


class Asked(TypedDict):
    question: str


class Told(TypedDict):
    answer: str


class Whole(TypedDict):
    question: str
    answer: str
    notes: str


@case
def input_and_output_schemas(api):
    seen = []

    def node(state: Whole):
        seen.append(dict(state))
        return {"answer": "42", "notes": "private"}

    talk = kept(api, one(api, Whole, node, input_schema=Asked, output_schema=Told))
    talk.invoke({"question": "?", "notes": "not an input"})
    talk.state()
    talk.stream({"question": "??"}, "values")
    talk.stream({"question": "??"}, "updates")
    api.note("seen", seen)


@case
def a_node_with_an_input_schema_of_its_own(api):
    class Private(TypedDict):
        secret: str

    seen = []

    def a(state: Log) -> Private:
        return {"secret": "s", "log": ["a"]}

    def b(state: Private) -> dict:
        seen.append(dict(state))
        return {"log": [state["secret"]]}

    builder = one(api, Log, a).add_node("b", b).add_edge("a", "b")
    talk = kept(api, builder)
    talk.invoke({"log": []})
    talk.state()
    api.note("seen", seen)


@case
def input_schema_given_at_add_node(api):
    seen = []
    builder = api.StateGraph(Whole)
    builder.add_node("a", lambda s: seen.append(dict(s)), input_schema=Asked)
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke(
        {"question": "?", "notes": "n"}
    )
    api.note("seen", seen)


@case
def output_keys_narrow_the_result(api):
    talk = kept(api, one(api, Mixed, lambda s: {"n": 2, "log": ["a"]}))
    talk.invoke({"n": 1}, output_keys=["n"])
    talk.invoke({"n": 1}, output_keys="n")
    talk.stream({"n": 1}, "values", output_keys=["log"])


# --------------------------------------------------------------------------------------- messages
def human(text: str, id: str | None = None) -> Any:
    from langchain_core.messages import HumanMessage

    return HumanMessage(text, id=id)


def machine(text: str, id: str | None = None) -> Any:
    from langchain_core.messages import AIMessage

    return AIMessage(text, id=id)


@case
def messages_are_appended(api):
    node = lambda s: {"messages": [machine("hello", "2")]}  # noqa: E731
    talk = kept(api, one(api, api.MessagesState, node))
    talk.invoke({"messages": [human("hi", "1")]})
    talk.state()


@case
def a_message_of_a_known_id_replaces(api):
    node = lambda s: {"messages": [machine("better", "1"), human("new", "3")]}  # noqa: E731
    talk = kept(api, one(api, api.MessagesState, node))
    talk.invoke({"messages": [machine("draft", "1"), human("stays", "2")]})


@case
def messages_in_short_form(api):
    node = lambda s: {"messages": ("ai", "hello")}  # noqa: E731
    talk = kept(api, one(api, api.MessagesState, node))
    talk.invoke({"messages": [{"role": "user", "content": "hi"}, ("user", "you")]})
    talk.invoke({"messages": "a string"})


@case
def messages_without_ids_get_them_once(api):
    talk = kept(api, one(api, api.MessagesState, lambda s: {"messages": [machine("hello")]}))
    talk.invoke({"messages": [human("hi")]})
    talk.state()  # no history: LangGraph gives the ids in place, so its past has them or has not


@case
def messages_are_removed(api):
    from langchain_core.messages import RemoveMessage

    node = lambda s: {"messages": [RemoveMessage(id="1")]}  # noqa: E731
    talk = kept(api, one(api, api.MessagesState, node))
    talk.invoke({"messages": [human("hi", "1"), human("you", "2")]})
    talk.invoke({"messages": [human("three", "3")]})


@case
def add_messages_called_directly(api):
    api.attempt(
        "add", lambda: api.add_messages([human("a", "1")], [human("b", "2"), human("c", "1")])
    )
    api.attempt("add", lambda: api.add_messages(human("a", "1"), ("ai", "x")))


@case
def messages_state_with_more_keys(api):
    class State(api.MessagesState):
        n: int

    talk = kept(api, one(api, State, lambda s: {"messages": [machine("m", "2")], "n": 1}))
    talk.invoke({"messages": [human("hi", "1")]})
    talk.stream({"messages": []})


@case
def a_node_changes_its_state_in_place(api):
    def vandal(state: Log):
        state["log"].append("by hand")
        return {"log": ["a"]}

    builder = line_of(api, "x").add_node("vandal", vandal).add_edge("x", "vandal")
    talk = kept(api, builder)
    talk.invoke({"log": ["in"]})


@case
def several_nodes_share_a_key_over_many_steps(api):
    builder = graph_of(api, "a", "b").add_edge(api.START, "a").add_edge("a", "b")
    talk = kept(api, builder)
    for word in ("one", "two", "three"):
        talk.invoke({"log": [word]})
    talk.state()
