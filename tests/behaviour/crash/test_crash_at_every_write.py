"""A process dies at each write in turn, just before it or just after: nobody outside can tell.

The next process goes on at once. What was finished is not done again; of each task that ran, the
one effect that was under way may run again, under the same key.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.behaviour.crash.deaths import Api, Story, survive, undisturbed
from tests.behaviour.crash.stories import STORIES


@pytest.fixture(params=["sync", "async"])
def api(request: pytest.FixtureRequest) -> Api:
    return request.param  # type: ignore[no-any-return]


# What differs between stores and durabilities shows in these; the others would only take time.
TELLING = ("loop", "branches")


def told(kind: str, story: Story, durability: str = "sync", *, heirs_die: bool = False) -> bool:
    """Whether a story is worth its time on this store."""
    return kind == "memory" or story.name in TELLING or (durability == "sync" and not heirs_die)


CUT_OFF = [
    pytest.param(kind, story, durability, id=f"{kind}-{story.name}-{durability}")
    for kind in ("memory", "sqlite")
    for story in STORIES
    for durability in ("sync", "async", "exit")
    if told(kind, story, durability)
]
HEIRS = [
    pytest.param(kind, story, id=f"{kind}-{story.name}")
    for kind in ("memory", "sqlite")
    for story in STORIES
    if told(kind, story, heirs_die=True)
]


@pytest.mark.parametrize(("kind", "story", "durability"), CUT_OFF)
def test_a_story_that_is_cut_off_at_any_write_ends_as_if_nothing_had_happened(
    story: Story, durability: str, kind: str, api: Api, tmp_path: Path
) -> None:
    expected = undisturbed(story, kind, tmp_path / "undisturbed", api, durability)
    died = 0
    for written in (False, True):
        for writes in range(expected.writes):
            folder = tmp_path / f"{writes}-{written}"
            died += survive(story, expected, kind, folder, api, durability, (writes, written))
    assert died >= expected.writes, "hardly any process died"


@pytest.mark.parametrize(("kind", "story"), HEIRS)
def test_a_story_whose_heirs_die_as_well_ends_as_if_nothing_had_happened(
    story: Story, kind: str, api: Api, tmp_path: Path
) -> None:
    expected = undisturbed(story, kind, tmp_path / "undisturbed", api, "sync")
    for first in range(0, expected.writes, 2):
        deaths = [(first, True), (1, False), (2, True), (3, False)]
        survive(story, expected, kind, tmp_path / str(first), api, "sync", *deaths)
