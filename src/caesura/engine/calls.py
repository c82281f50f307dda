"""One call on one thread (`Call`), and each graph that is at work within it (`Work`).

Promises: whoever holds a `Call` that has begun holds the thread's lease, and `end` gives it back
with the last thing that the call writes. Does not promise: to know what a run does next; that is
`engine.loop`.
Made by the facade and by `engine.children`; read by everything that runs inside of a node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from caesura.core.journals import journal_key
from caesura.core.parts import Question
from caesura.engine import running
from caesura.engine.leases import HEART, busy, wish_for
from caesura.engine.naming import task_id
from caesura.errors import GraphMismatch, SchemaChanged, StaleHead, ThreadBusy
from caesura.ports import LeaseHeld

if TYPE_CHECKING:
    from caesura.core.plan import Plan
    from caesura.core.view import RunView
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.ledger import Ledger
    from caesura.engine.performer import Performer
    from caesura.engine.scopes import Scope
    from caesura.engine.stream import Stream

Durability = Literal["sync", "async", "exit"]
OnBusy = Literal["raise", "wait"]

RECURSION_LIMIT = 10_000
PREVIOUS = "__previous__"  # the key under which an entrypoint saves
WAIT_S = 0.05  # between two looks at a thread that another process holds


class Beginning(NamedTuple):
    """For streams: that a call gave a run its input, or went back to an older step."""

    kind: Literal["input", "step"]
    wrote: frozenset[str] = frozenset()  # the keys of the input
    before: tuple[dict[str, Any], int, int | None] | None = (
        None  # state, step and parent until then
    )


class Call:
    """What one call of the facade brings with it, for all graphs that run within it."""

    __slots__ = (
        "beginning",
        "by",
        "clock",
        "configurable",
        "context",
        "drained",
        "durability",
        "failures",
        "graph",
        "ids",
        "ledger",
        "limit",
        "most_at_once",
        "owner",
        "settings",
        "stream",
        "takes_foreign",
        "watch",
    )

    def __init__(
        self,
        graph: CompiledGraph,
        ledger: Ledger,
        *,
        settings: dict[str, Any],
        context: Any = None,
        durability: Durability = "sync",
        stream: Stream | None = None,
        by: str | None = None,
    ) -> None:
        self.graph, self.ledger, self.settings, self.context = graph, ledger, settings, context
        self.configurable: dict[str, Any] = settings.get("configurable") or {}
        self.durability, self.stream, self.by = durability, stream, by
        self.clock, self.ids = ledger.clock, graph.ids
        self.limit: int = settings.get("recursion_limit") or RECURSION_LIMIT
        self.most_at_once: int | None = settings.get("max_concurrency")
        # id of a recorded failure -> (it, the exception itself), for error handlers
        self.failures: dict[int, tuple[Any, BaseException]] = {}
        self.watch: Callable[[Any], None] | None = None  # prepares the context of each node
        self.beginning: Beginning | None = None
        self.drained = False
        self.takes_foreign = False  # another graph's thread is welcome
        self.owner: str | None = None

    @property
    def is_stopping(self) -> bool:
        return self.drained or (self.stream is not None and self.stream.is_closed)

    # ---------------------------------------------------------------------------------- beginning
    async def load(
        self, performer: Performer, on_busy: OnBusy = "raise", *, free: bool = False
    ) -> None:
        """Read the thread; `free` says that the caller is going to need its lease."""
        ledger = self.ledger
        while True:
            await performer.store(ledger.load)
            self._check_graph()
            if not free or ledger.store is None:
                return
            try:
                wish_for(ledger.store, ledger.thread, "", ledger.lease)
                return
            except ThreadBusy:
                if on_busy == "raise":
                    raise
            await performer.store(lambda: running.wait_for_a_change(WAIT_S))

    def _check_graph(self) -> None:
        ledger, plan = self.ledger, self.graph.plan
        view = ledger.view
        if not ledger.exists or not view.graph or self.takes_foreign:
            return
        if view.graph != plan.name:
            raise GraphMismatch(ledger.thread, recorded=view.graph, given=plan.name)
        changed = changed_reducers(view.reducers, plan)
        if changed:
            raise SchemaChanged(ledger.thread, changed)

    async def take(self, performer: Performer) -> bool:
        """Take the lease with what was staged; False: the thread is to be read again."""
        ledger = self.ledger
        store = ledger.store
        if store is None:
            return True
        self.owner = owner = running.owner_name(store.host.identity())
        wish = wish_for(store, ledger.thread, owner, ledger.lease)
        running.enlist(owner, self)
        try:
            await performer.begin(ledger, wish)
        except StaleHead:
            running.dismiss(owner)
            return False
        except LeaseHeld as held:
            running.dismiss(owner)
            raise busy(ledger.thread, held) from None
        except BaseException:
            running.dismiss(owner)
            raise
        if store.shared:
            HEART.beat_for(ledger)
        return True

    async def end(self, performer: Performer) -> None:
        """Write what is staged and give the lease back."""
        ledger = self.ledger
        try:
            await performer.commit(ledger, durable=True, release=ledger.epoch is not None)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Be at work no longer, whatever the store thinks."""
        ledger = self.ledger
        ledger.epoch = None
        if ledger.store is not None and ledger.store.shared:
            HEART.stop_for(ledger)
        if self.owner is not None:
            running.dismiss(self.owner)


class Work:
    """One graph at work on the thread."""

    __slots__ = (
        "_config",
        "beginning",
        "budget",
        "call",
        "caller",
        "namespace",
        "parent",
        "performer",
        "plan",
        "run_id",
        "settings",
        "short",
        "space",
        "steps_left",
    )

    def __init__(
        self,
        call: Call,
        plan: Plan,
        run_id: int,
        performer: Performer,
        *,
        parent: Work | None = None,
        namespace: tuple[str, ...] = (),
        space: str = "",
        settings: dict[str, Any] | None = None,
        caller: Scope | None = None,
    ) -> None:
        self.caller = caller  # the pass that called this graph, for one that runs inside another
        self.call, self.plan, self.run_id, self.performer = call, plan, run_id, performer
        self.parent, self.namespace, self.space = parent, namespace, space
        self.settings = settings if settings is not None else call.settings
        self.budget: int = self.settings.get("recursion_limit") or call.limit
        self.steps_left = self.budget
        self.short: dict[str, bool] = {}  # node -> whether it can be run the short way
        self.beginning: Beginning | None = None
        self._config: dict[str, Any] | None = None

    @property
    def run(self) -> RunView:
        return self.call.ledger.view.runs[self.run_id]

    @property
    def previous(self) -> Any:
        """What an entrypoint saved last."""
        return self.run.values.get(PREVIOUS)

    @property
    def config(self) -> dict[str, Any]:
        """What nodes get as `config`: the caller's settings, and where this graph is at work."""
        if self._config is None:
            configurable = {**self.call.configurable, **(self.settings.get("configurable") or {})}
            configurable["thread_id"] = self.call.ledger.thread
            self._config = {
                "recursion_limit": self.budget,
                **self.settings,
                "configurable": configurable,
            }
        return self._config

    def id_of(self, index: int) -> str:
        return task_id(self.call.ledger.view.birth, self.run.step, index)

    def questions_of(self, index: int) -> list[Question]:
        """What this task asks and nobody has answered, also deep inside of its child graphs."""
        return open_below(self, self.run, index)


def open_below(work: Work, run: RunView, index: int) -> list[Question]:
    view = work.call.ledger.view
    journal = view.journals.get(journal_key(run, index, run.tasks[index]))
    if journal is None:
        return []
    found = [asking.question for asking in journal.questions if asking.status == "open"]
    for child_id in journal.children.values():
        child = view.runs.get(child_id)
        for place in range(len(child.tasks) if child is not None else 0):
            found += open_below(work, child, place)  # type: ignore[arg-type]
    return found


def changed_reducers(recorded: dict[str, str], plan: Plan) -> dict[str, tuple[str, str]]:
    """Keys whose recorded deltas were meant for another reducer than today's."""
    today = reducers_of(plan)
    if recorded == today:
        return {}
    from caesura.core.fingerprints import differs

    return {
        key: (old, plan.state.channels[key].fingerprint)
        for key, old in recorded.items()
        if key in plan.state.channels and differs(old, plan.state.channels[key].fingerprint)
    }


def reducers_of(plan: Plan) -> dict[str, str]:
    return {key: ch.fingerprint for key, ch in plan.state.channels.items() if ch.kind == "reduce"}
