"""Durable graphs that pause for people.

Promises: every public name imports from here, and importing this module alone loads none of them:
each comes from its home at its first use. The names below `TYPE_CHECKING` are the same ones, for
type checkers and editors; a test keeps both lists equal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from caesura.core.control import (
        END as END,
        START as START,
        Answer as Answer,
        Answers as Answers,
        Command as Command,
        Interrupt as Interrupt,
        NodeError as NodeError,
        Overwrite as Overwrite,
        PregelTask as PregelTask,
        RetryPolicy as RetryPolicy,
        Send as Send,
        StateSnapshot as StateSnapshot,
        StateUpdate as StateUpdate,
        TimeoutPolicy as TimeoutPolicy,
    )
    from caesura.core.messages import (
        REMOVE_ALL_MESSAGES as REMOVE_ALL_MESSAGES,
        MessagesState as MessagesState,
        RemoveMessage as RemoveMessage,
        add_messages as add_messages,
    )
    from caesura.core.schemas import (
        IsLastStep as IsLastStep,
        RemainingSteps as RemainingSteps,
        UntrackedValue as UntrackedValue,
    )
    from caesura.engine.compiled import CompiledGraph as CompiledGraph
    from caesura.engine.context import (
        ExecutionInfo as ExecutionInfo,
        Runtime as Runtime,
        get_config as get_config,
        get_runtime as get_runtime,
        get_stream_writer as get_stream_writer,
    )
    from caesura.engine.effects import once as once
    from caesura.engine.functional import (
        entrypoint as entrypoint,
        task as task,
        workflow as workflow,
    )
    from caesura.engine.graph import StateGraph as StateGraph
    from caesura.engine.interrupts import interrupt as interrupt
    from caesura.engine.running import drain as drain
    from caesura.errors import (
        AlreadyAnswered as AlreadyAnswered,
        AmbiguousAnswer as AmbiguousAnswer,
        AuthoringError as AuthoringError,
        CaesuraError as CaesuraError,
        Conflict as Conflict,
        CorruptRecord as CorruptRecord,
        Defect as Defect,
        DroppedKeyWarning as DroppedKeyWarning,
        EffectChanged as EffectChanged,
        EmptyInputError as EmptyInputError,
        GraphDrained as GraphDrained,
        GraphMismatch as GraphMismatch,
        GraphRecursionError as GraphRecursionError,
        InvalidAnswer as InvalidAnswer,
        InvalidCall as InvalidCall,
        InvalidGraph as InvalidGraph,
        InvalidUpdateError as InvalidUpdateError,
        JournalSealed as JournalSealed,
        LeaseLost as LeaseLost,
        MissingExtra as MissingExtra,
        NeedsCheckpointer as NeedsCheckpointer,
        NodeCancelled as NodeCancelled,
        NodeTimeoutError as NodeTimeoutError,
        NodeVanished as NodeVanished,
        NotFound as NotFound,
        OutsideANode as OutsideANode,
        ParentCommand as ParentCommand,
        PerformedUnrecorded as PerformedUnrecorded,
        QuestionClosed as QuestionClosed,
        QuestionExpired as QuestionExpired,
        RecordedError as RecordedError,
        RecordTooLarge as RecordTooLarge,
        RequestMismatch as RequestMismatch,
        SchemaChanged as SchemaChanged,
        StaleHead as StaleHead,
        StoreClosed as StoreClosed,
        StoreMisconfigured as StoreMisconfigured,
        StoreTrouble as StoreTrouble,
        StoreUnavailable as StoreUnavailable,
        Suspended as Suspended,
        ThreadBusy as ThreadBusy,
        UnknownEvent as UnknownEvent,
        UnknownFormat as UnknownFormat,
        UnknownNode as UnknownNode,
        UnknownQuestion as UnknownQuestion,
        UnknownStep as UnknownStep,
        UnknownThread as UnknownThread,
        UnserializableValue as UnserializableValue,
        UnstableQuestion as UnstableQuestion,
        Unsupported as Unsupported,
    )
    from caesura.stores.encrypted import EncryptedStore as EncryptedStore
    from caesura.stores.memory import MemoryStore as MemoryStore
    from caesura.stores.sqlite import SqliteStore as SqliteStore

    InMemorySaver = MemorySaver = MemoryStore
    SqliteSaver = SqliteStore

# Where each module's public names live; `public=home` where a name is known under another one too.
_HOMES = {
    "caesura.core.control": """
        START END Send Command Overwrite Answer Answers Interrupt NodeError RetryPolicy
        TimeoutPolicy StateUpdate StateSnapshot PregelTask
    """,
    "caesura.core.messages": "MessagesState add_messages RemoveMessage REMOVE_ALL_MESSAGES",
    "caesura.core.schemas": "IsLastStep RemainingSteps UntrackedValue",
    "caesura.engine.compiled": "CompiledGraph",
    "caesura.engine.context": """
        Runtime ExecutionInfo get_config get_runtime get_stream_writer
    """,
    "caesura.engine.effects": "once",
    "caesura.engine.functional": "entrypoint task workflow",
    "caesura.engine.graph": "StateGraph",
    "caesura.engine.interrupts": "interrupt",
    "caesura.engine.running": "drain",
    "caesura.stores.encrypted": "EncryptedStore",
    "caesura.stores.memory": "MemoryStore InMemorySaver=MemoryStore MemorySaver=MemoryStore",
    "caesura.stores.sqlite": "SqliteStore SqliteSaver=SqliteStore",
    "caesura.errors": """
        CaesuraError AuthoringError Conflict NotFound StoreTrouble Defect
        InvalidGraph UnknownNode Unsupported InvalidCall
        InvalidUpdateError DroppedKeyWarning EmptyInputError GraphRecursionError NodeTimeoutError
        NodeCancelled
        OutsideANode NeedsCheckpointer EffectChanged UnstableQuestion UnserializableValue
        PerformedUnrecorded JournalSealed RecordedError ParentCommand GraphDrained Suspended
        ThreadBusy StaleHead LeaseLost GraphMismatch SchemaChanged NodeVanished RequestMismatch
        UnknownThread UnknownStep
        InvalidAnswer AmbiguousAnswer UnknownQuestion QuestionClosed AlreadyAnswered QuestionExpired
        StoreClosed StoreUnavailable StoreMisconfigured MissingExtra RecordTooLarge UnknownFormat
        UnknownEvent CorruptRecord
    """,
}
_PUBLIC = {
    entry.partition("=")[0]: (module, entry.rpartition("=")[2])
    for module, entries in _HOMES.items()
    for entry in entries.split()
}

__all__ = [*_PUBLIC, "__version__"]  # noqa: PLE0604 - strings, by construction


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'caesura' has no attribute {name!r}")
    module, known_there_as = _PUBLIC[name]
    value = getattr(import_module(module), known_there_as)
    globals()[name] = value  # the next use does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
