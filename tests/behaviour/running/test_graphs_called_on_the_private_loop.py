"""An async node that calls the sync API of another graph gets its result, however deep that goes."""

from __future__ import annotations

import asyncio
import contextvars

from caesura import MemoryStore, interrupt, once

WHO = contextvars.ContextVar("WHO", default="nobody")


def test_a_sync_call_in_an_async_node_reaches_async_nodes(app):
    async def leaf(state):
        await asyncio.sleep(0)
        return {"notes": ["leaf"]}

    child = app.chain(leaf, checkpointer=None, name="child")

    async def node(state):
        return {"notes": child.invoke({})["notes"]}

    assert app.run(app.chain(node), {})["notes"] == ["leaf"]


def test_so_do_calls_within_such_calls(app):
    async def leaf(state):
        await asyncio.sleep(0)
        return {"notes": ["leaf"]}

    graph = app.chain(leaf, checkpointer=None, name="0")
    for depth in range(1, 4):

        async def node(state, inner=graph):
            await asyncio.sleep(0)
            return {"notes": inner.invoke({})["notes"]}

        graph = app.chain(node, checkpointer=None, name=str(depth))

    async def outermost(state):
        return {"notes": graph.invoke({})["notes"]}

    assert app.run(app.chain(outermost), {})["notes"] == ["leaf"]


def test_so_do_async_nodes_that_run_side_by_side_in_the_graph_that_is_called(app):
    async def one(state):
        await asyncio.sleep(0)
        return {"notes": ["one"]}

    async def two(state):
        await asyncio.sleep(0)
        return {"notes": ["two"]}

    child = app.side_by_side(one, two, checkpointer=None, name="child")

    async def node(state):
        return {"notes": child.invoke({})["notes"]}

    assert app.run(app.chain(node), {})["notes"] == ["one", "two"]


def test_a_graph_with_a_thread_of_its_own_can_be_called_too(app):
    async def leaf(state):
        return {"notes": [await once(asyncio.sleep, 0, "leaf")]}

    other = app.chain(leaf, checkpointer=MemoryStore(), name="other")

    async def node(state):
        return {"notes": other.invoke({}, thread="of its own")["notes"]}

    assert app.run(app.chain(node), {})["notes"] == ["leaf"]


def test_a_question_comes_out_of_such_a_call_and_its_answer_goes_in(app):
    async def leaf(state):
        return {"notes": [interrupt("sure?")]}

    child = app.chain(leaf, checkpointer=None, name="child")

    async def node(state):
        return {"notes": child.invoke({})["notes"]}

    graph = app.chain(node)
    assert [q.value for q in app.run(graph, {}).interrupts] == ["sure?"]
    assert app.answer(graph, "yes")["notes"] == ["yes"]


def test_nodes_side_by_side_see_the_context_of_their_caller(app):
    def one(state):
        return {"notes": [WHO.get()]}

    def two(state):
        return {"notes": [WHO.get()]}

    graph = app.side_by_side(one, two)
    token = WHO.set("ana")
    try:
        assert app.run(graph, {})["notes"] == ["ana", "ana"]
    finally:
        WHO.reset(token)
