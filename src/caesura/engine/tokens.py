"""Stream mode "messages": what chat models say while nodes run, token by token.

Promises: knows LangChain's callbacks, which are there when a program uses such a model; without
that package only messages that nodes return are streamed. A message is told once.
Made by the facade when somebody streams messages; `engine.tasks` hands it the context of each node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from caesura.engine.context import about, config_of
from caesura.errors import MissingExtra

if TYPE_CHECKING:
    from caesura.engine.calls import Work
    from caesura.engine.scopes import Scope
    from caesura.engine.stream import Stream


class Tokens:
    """Called in the context of a node before the node runs."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._told: set[str] = set()

    def __call__(self, scope: Scope) -> None:
        try:
            from langchain_core.runnables.config import var_child_runnable_config
        except ImportError:
            raise MissingExtra(
                "stream_mode='messages'", extra="langchain", package="langchain-core"
            ) from None
        handler = _handler(self, scope)
        config = config_of(scope)
        given = config.get("callbacks") or []
        config["callbacks"] = [*given, handler] if isinstance(given, list) else [handler]
        var_child_runnable_config.set(cast(Any, config))

    def put(self, scope: Scope, message: Any, more: dict[str, Any]) -> None:
        if getattr(message, "id", None):
            self._told.add(message.id)
        self._stream.put(scope.work.namespace, "messages", (message, {**about(scope), **more}))

    def said(
        self, namespace: tuple[str, ...], work: Work, index: int, writes: Iterable[Any]
    ) -> None:
        """Messages that a node returned and no model has spoken before."""
        from caesura.engine.scopes import Scope

        for message in _messages_in(writes):
            if message.id is not None and message.id in self._told:
                continue
            task = work.run.tasks[index]
            scope = Scope(
                work,
                node=task.node,
                step=work.run.step,
                index=index,
                key=f"{work.run.step}.{index}",
                journal=None,
            )
            self.put(scope, message, {})


def _messages_in(writes: Iterable[Any]) -> Iterable[Any]:
    from langchain_core.messages import BaseMessage

    for write in writes:
        for value in write.values():
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, BaseMessage):
                    yield one


def _handler(tokens: Tokens, scope: Scope) -> Any:
    """A callback handler that tells the stream every token."""
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import AIMessageChunk
    from langchain_core.tracers._streaming import _StreamingCallbackHandler

    class Handler(BaseCallbackHandler, _StreamingCallbackHandler):  # type: ignore[type-arg]
        run_inline = True

        def tap_output_iter(self, run_id: Any, output: Any) -> Any:
            return output

        def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
            return output

        def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: Any, **_: Any) -> None:
            message = getattr(chunk, "message", None) or AIMessageChunk(content=token)
            if message.id is None:
                message.id = f"run-{run_id}"
            streamed.add(str(run_id))
            tokens.put(scope, message, _named(_))

        def on_llm_end(self, response: Any, *, run_id: Any = None, **kwargs: Any) -> None:
            if str(run_id) in streamed:
                return
            for generations in response.generations:
                for generation in generations:
                    message = getattr(generation, "message", None)
                    if message is not None:
                        if message.id is None:
                            message.id = f"run-{run_id}"
                        tokens.put(scope, message, _named(kwargs))

    streamed: set[str] = set()
    return Handler()


def _named(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"tags": kwargs["tags"]} if kwargs.get("tags") else {}
