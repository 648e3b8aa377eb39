"""The part of a run's attributes that a page shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.pages.run_files import attribute_tree
from web.pages.run_files.attribute_tree import (
    MAX_SHOWN,
    OPEN_AT_MOST,
    Leaf,
    Level,
    found_level,
    level_below,
    trail,
)

PATHS = st.lists(
    st.text("ab-/", min_size=1, max_size=6)
    .map(lambda text: text.strip("/"))
    .filter(bool),
    unique=True,
).map(sorted)


def names(level: Level) -> list[str]:
    branches = [f"{branch.name}/" for branch in level.branches]
    return branches + [leaf.name for leaf in level.leaves]


def numbered(count: int, name: str = "{:05}") -> list[str]:
    return [name.format(number) for number in range(count)]


def test_what_lies_directly_below_is_shown():
    level = level_below(["a/x/1", "a/x/2", "a/y"], "a/")

    assert [
        (branch.name, branch.prefix, branch.count) for branch in level.branches
    ] == [("x", "a/x/", 2)]
    assert level.leaves == (Leaf("y", "a/y"),)


def test_small_branches_are_open_with_all_below_them():
    (branch,) = level_below(["a/b/c/d", "a/e"], "").branches

    assert names(branch.level) == ["b/", "e"]
    assert names(branch.level.branches[0].level) == ["c/"]
    assert level_below(["a/b/c/d", "a/e"], "").paths == ["a/b/c/d", "a/e"]


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(numbered(OPEN_AT_MOST + 1, "a/{}"), id="large"),
        pytest.param(["monitoring/train/job/workers"], id="the agent's own"),
        pytest.param(
            sorted([*numbered(MAX_SHOWN, "{:05}/x"), "00000/y"]), id="very many"
        ),
    ],
)
def test_a_branch_is_closed_that_is_much(paths):
    level = level_below(paths, "")

    assert {branch.level for branch in level.branches} == {None}
    assert level.paths == []


def test_no_level_shows_more_than_a_page_can_hold():
    paths = sorted([*numbered(MAX_SHOWN - 1, "{:05}/x"), "a", "b", "c"])

    level = level_below(paths, "")

    assert len(level.branches) == MAX_SHOWN - 1
    assert names(level)[-1] == level.after == "a"
    assert level.hidden == 2
    assert names(level_below(paths, "", after=level.after)) == ["b", "c"]


def test_a_search_shows_whole_paths_part_by_part():
    paths = numbered(MAX_SHOWN + 1, "a/{:05}")

    first = found_level(paths)
    rest = found_level(paths, after=first.after)

    assert names(first) == paths[:-1]
    assert first.hidden == 1
    assert names(rest) == paths[-1:]
    assert rest.hidden == 0


@given(paths=PATHS, most=st.integers(1, 4), prefix=st.sampled_from(["", "a/", "a"]))
def test_parts_that_follow_on_each_other_show_everything_once(paths, most, prefix):
    paths = [path for path in paths if path.startswith(prefix) and path != prefix]
    shown, after = [], ""
    with pytest.MonkeyPatch.context() as patch:
        whole = level_below(paths, prefix)
        patch.setattr(attribute_tree, "MAX_SHOWN", most)
        while True:
            part = level_below(paths, prefix, after=after)
            shown += names(part)
            after = part.after
            assert part.hidden == len(names(whole)) - len(shown)
            if not part.hidden:
                break

    assert shown == names(whole)
    assert sum(b.count for b in whole.branches) + len(whole.leaves) == len(paths)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("", []),
        ("a/", [("a", "a/")]),
        ("a/b/", [("a", "a/"), ("b", "a/b/")]),
        ("a//b/", [("a", "a/"), ("", "a//"), ("b", "a//b/")]),
        ("a/part", [("a", "a/")]),
    ],
)
def test_a_trail_leads_back(prefix, expected):
    assert trail(prefix) == expected


def test_branches_that_somebody_opened_come_opened_however_large_they_are():
    paths = [f"a/b/{number:03}" for number in range(30)]

    closed = level_below(paths, "")
    opened = level_below(paths, "", opened={"a/", "a/b/", "elsewhere/"})

    assert closed.branches[0].level is None
    assert opened.branches[0].level.branches[0].level.leaves[29].name == "029"
    assert opened.branches[0].key != opened.branches[0].level.branches[0].key
