"""The contract's assertions show their values, as those of a test file do."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("caesura.testing.contract")
