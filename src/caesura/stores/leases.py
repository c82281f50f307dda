"""Who may write a thread next: the rule that all stores share.

Promises: a lease is taken only when it is free, lapsed, the taker's own, or held by the owner that
the taker knows to be dead; each taking has a higher epoch than all before, so what an earlier
holder still writes is refused.
Called by the stores inside of the transaction that writes.
"""

from __future__ import annotations

from caesura.errors import LeaseLost
from caesura.ports import Append, Lease, LeaseHeld, Release, Take


def check_epoch(append: Append, lease: Lease) -> None:
    """A given-back lease is in force no longer, although its epoch is still the highest."""
    if append.epoch is not None and (lease.owner is None or lease.epoch != append.epoch):
        raise LeaseLost(append.thread, epoch=append.epoch, current=lease.epoch)


def lease_after(wish: Take | Release | None, lease: Lease, now: int) -> Lease:
    match wish:
        case None:
            return lease
        case Release():
            return Lease(None, lease.epoch, 0)
        case Take(owner=owner, ttl_us=ttl_us, evict=evict):
            is_held = lease.owner not in (None, owner, evict) and now < lease.until
            if is_held:
                raise LeaseHeld(lease)
            return Lease(owner, lease.epoch + 1, now + ttl_us)
