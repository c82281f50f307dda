"""A lease is held by one, lapses by the store's clock, and is fenced off by the next taking."""

from __future__ import annotations

from functools import partial

import pytest

from caesura.errors import LeaseLost, StaleHead
from caesura.ports import Append, Lease, LeaseHeld, Release, Store
from caesura.testing.clock import ManualClock
from caesura.testing.contract.words import TTL_S, Part, at_once, begin, row, take


class LeasingContract(Part):
    def test_a_lease_says_who_holds_it_and_until_when(
        self, store: Store, clock: ManualClock
    ) -> None:
        epoch = begin(store, owner="ana")
        assert _lease(store) == Lease("ana", epoch, clock.now() + TTL_S * 1_000_000)

    def test_a_thread_without_a_taking_has_no_holder(self, store: Store) -> None:
        assert store.append(Append("t", 0, 1, b"began")) == 0
        assert _lease(store).owner is None

    def test_a_held_lease_is_refused_and_names_its_holder(self, store: Store) -> None:
        begin(store, owner="ana")
        with pytest.raises(LeaseHeld) as refused:
            store.append(Append("t", 1, 1, b"lost", lease=take("bo")))
        assert refused.value.lease == _lease(store)
        assert (_lease(store).owner, store.head("t")) == ("ana", 1)

    def test_a_lapsed_lease_can_be_taken(self, store: Store, clock: ManualClock) -> None:
        first = begin(store, owner="ana")
        clock.advance(TTL_S - 0.001)
        with pytest.raises(LeaseHeld):
            store.append(Append("t", 1, 1, b"lost", lease=take("bo")))
        clock.advance(0.001)
        assert store.append(Append("t", 1, 1, b"taken", lease=take("bo"))) > first
        assert _lease(store).owner == "bo"

    def test_a_lapsed_lease_that_nobody_took_still_writes(
        self, store: Store, clock: ManualClock
    ) -> None:
        epoch = begin(store)
        clock.advance(TTL_S * 10)
        assert store.append(Append("t", 1, 1, b"late", epoch=epoch)) == epoch

    def test_the_holder_may_take_it_again_under_a_higher_epoch(self, store: Store) -> None:
        first = begin(store, owner="ana")
        second = store.append(Append("t", 1, 1, b"again", lease=take("ana")))
        assert second > first
        with pytest.raises(LeaseLost):
            store.append(Append("t", 2, 1, b"lost", epoch=first))

    def test_a_dead_holder_is_evicted_at_once(self, store: Store) -> None:
        first = begin(store, owner="ana")
        second = store.append(Append("t", 1, 1, b"taken", lease=take("bo", evict="ana")))
        assert (_lease(store).owner, second > first) == ("bo", True)

    def test_only_the_holder_that_is_known_to_be_dead_is_evicted(self, store: Store) -> None:
        begin(store, owner="ana")
        with pytest.raises(LeaseHeld):
            store.append(Append("t", 1, 1, b"lost", lease=take("bo", evict="cleo")))

    def test_what_an_earlier_holder_writes_is_refused(
        self, store: Store, clock: ManualClock
    ) -> None:
        first = begin(store, owner="ana")
        clock.advance(TTL_S)
        second = store.append(Append("t", 1, 1, b"taken", lease=take("bo")))
        for late in (
            Append("t", 2, 1, b"lost", epoch=first),
            Append("t", 2, 0, b"", epoch=first, row=row("done")),
            Append("t", 2, 0, b"", epoch=first, lease=Release()),
        ):
            with pytest.raises(LeaseLost) as refused:
                store.append(late)
            assert (refused.value.epoch, refused.value.current) == (first, second)
        assert (store.head("t"), _lease(store).owner) == (2, "bo")

    def test_a_lost_lease_is_told_before_a_stale_head(self, store: Store) -> None:
        first = begin(store, owner="ana")
        store.append(Append("t", 1, 1, b"taken", lease=take("bo", evict="ana")))
        with pytest.raises(LeaseLost):
            store.append(Append("t", 1, 1, b"lost", epoch=first))

    def test_a_taking_with_a_stale_head_is_refused_whole(self, store: Store) -> None:
        epoch = store.append(Append("t", 0, 1, b"began"))
        with pytest.raises(StaleHead):
            store.append(Append("t", 0, 1, b"lost", lease=take("bo")))
        assert _lease(store) == Lease(None, epoch, 0)

    def test_a_release_gives_it_back_with_the_last_append(self, store: Store) -> None:
        first = begin(store, owner="ana")
        store.append(Append("t", 1, 1, b"last", epoch=first, lease=Release()))
        assert (_lease(store).owner, _lease(store).epoch) == (None, first)
        with pytest.raises(LeaseLost):
            store.append(Append("t", 2, 1, b"lost", epoch=first))
        assert store.append(Append("t", 2, 1, b"next", lease=take("bo"))) > first

    def test_a_release_loses_against_an_answer_that_landed_before(self, store: Store) -> None:
        epoch = begin(store, owner="ana")
        store.append(Append("t", 1, 1, b"an answer"))
        with pytest.raises(StaleHead):
            store.append(Append("t", 1, 0, b"", epoch=epoch, lease=Release()))
        assert _lease(store).owner == "ana"
        store.append(Append("t", 2, 0, b"", epoch=epoch, lease=Release()))
        assert _lease(store).owner is None

    def test_only_a_holder_can_release(self, store: Store) -> None:
        begin(store, owner="ana")
        with pytest.raises(ValueError, match="epoch"):
            store.append(Append("t", 1, 0, b"", lease=Release()))

    def test_of_many_that_take_at_once_one_gets_it(self, store: Store) -> None:
        store.append(Append("t", 0, 1, b"began"))
        acts = [
            partial(store.append, Append("t", 1, 0, b"", lease=take(f"worker {n}")))
            for n in range(8)
        ]
        outcomes = at_once(acts)
        assert sum(isinstance(outcome, int) for outcome in outcomes) == 1
        assert sum(isinstance(outcome, LeaseHeld) for outcome in outcomes) == 7

    # ------------------------------------------------------------------------------------- renewing
    def test_a_renewed_lease_lapses_later(self, store: Store, clock: ManualClock) -> None:
        epoch = begin(store, owner="ana")
        clock.advance(TTL_S - 1)
        assert store.renew("t", epoch, TTL_S * 1_000_000) is True
        assert _lease(store) == Lease("ana", epoch, clock.now() + TTL_S * 1_000_000)
        clock.advance(TTL_S - 1)
        with pytest.raises(LeaseHeld):
            store.append(Append("t", 1, 1, b"lost", lease=take("bo")))

    def test_a_lapsed_lease_that_nobody_took_can_be_renewed(
        self, store: Store, clock: ManualClock
    ) -> None:
        epoch = begin(store, owner="ana")
        clock.advance(TTL_S * 5)
        assert store.renew("t", epoch, TTL_S * 1_000_000) is True
        with pytest.raises(LeaseHeld):
            store.append(Append("t", 1, 1, b"lost", lease=take("bo")))

    def test_a_lease_that_is_no_longer_ours_cannot_be_renewed(self, store: Store) -> None:
        first = begin(store, owner="ana")
        second = store.append(Append("t", 1, 1, b"taken", lease=take("bo", evict="ana")))
        before = _lease(store)
        assert store.renew("t", first, TTL_S * 1_000_000) is False
        assert _lease(store) == before
        store.append(Append("t", 2, 0, b"", epoch=second, lease=Release()))
        assert store.renew("t", second, TTL_S * 1_000_000) is False
        assert store.renew("nobody", 1, TTL_S * 1_000_000) is False


def _lease(store: Store) -> Lease:
    loaded = store.load("t")
    assert loaded is not None
    return loaded.lease
