"""What every store promises, as tests: subclass `StoreContract` and say how your store is made.

    class TestMyStore(StoreContract):
        def make_store(self, folder, *, clock, max_bytes):
            return MyStore(folder / "my.db", clock=clock, max_bytes=max_bytes)

Promises: a store that passes does all that `caesura.ports.Store` says, as far as it can be seen
within one process; the tests close what they opened, and nothing sleeps.
Does not promise: that what was written survives the machine, or that two processes get along. That
is a test of the medium, which only its store can write.
Used by tests with pytest. For failures that show values, call
`pytest.register_assert_rewrite("caesura.testing.contract")` in a conftest before importing this.
"""

from __future__ import annotations

from caesura.testing.contract.appending import AppendingContract
from caesura.testing.contract.behind import BehindContract
from caesura.testing.contract.forgetting import ForgettingContract
from caesura.testing.contract.leasing import LeasingContract
from caesura.testing.contract.lifetimes import LifetimesContract
from caesura.testing.contract.listing import ListingContract
from caesura.testing.contract.questions import QuestionsContract
from caesura.testing.contract.reading import ReadingContract


class StoreContract(
    AppendingContract,
    BehindContract,
    ForgettingContract,
    LeasingContract,
    LifetimesContract,
    ListingContract,
    QuestionsContract,
    ReadingContract,
):
    """All of it. Each part may also be used by itself."""


__all__ = ["StoreContract"]
