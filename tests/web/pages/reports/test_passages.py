"""Passages of a text, and comments after the text changes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tracker.queries.reports.comments import Comment, Thread
from web.markdown import parts_of, rendered, rendered_part, rendered_remark
from web.pages.reports.passages import MAX_PASSAGES, discussion_of, passages_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = """# What *helped*

Decoding `ahead` of
the training loop helped most of all.

- one
- two

| run | hours |
|---|---|
| a | 1 |

> Measure first.

```seamark
widget: chart
metrics: train/loss
first: 5
```

    code here

---

![a picture](/runs/00000000-0000-0000-0000-000000000000/files/picture?path=x)
"""


def passages(text):
    return passages_of(parts_of(text))


def thread(passage=None, *, number=1) -> Thread:
    first = Comment(number, "so?", "ada", 1, 1, NOW, None, is_deleted=False)
    about = (passage.key, passage.kind, passage.words) if passage else ("", "", "")
    return Thread(first, (), *about, None, "")


def one(text, kind):
    return next(each for each in passages(text) if each and each.kind == kind)


def moved_to(passage, text) -> str | None:
    """Return the passage of another text that a comment is moved to."""
    found = discussion_of([thread(passage)], passages(text))
    if found.earlier:
        return None
    (key,) = (key for key, threads in found.beside.items() if threads)
    return next(each.words for each in passages(text) if each and each.key == key)


def test_every_block_that_says_something_is_a_passage():
    found = [each and (each.kind, each.words) for each in passages(TEXT)]

    assert found == [
        ("heading", "What helped"),
        ("paragraph", "Decoding ahead of the training loop helped most of all."),
        ("list", "one two"),
        ("table", "run hours a 1"),
        ("quote", "Measure first."),
        ("widget", "widget: chart, metrics: train/loss, first: 5"),
        ("code", "code here"),
        None,
        ("paragraph", "a picture"),
    ]


def test_block_by_block_the_text_is_what_it_is_as_a_whole():
    def draw(text: str) -> str:
        return f"[{text}]"

    text = f"{TEXT}\nsee [there][1]\n\n[1]: https://example.org\n"
    parts = parts_of(text)

    assert "".join(rendered_part(part, draw) for part in parts) == rendered(text, draw)


def test_the_same_words_have_the_same_key_wherever_they_stand():
    there = one(f"before\n\n{TEXT}\n\nafter", "table")

    assert one(TEXT, "table").key == there.key
    assert len({each.key for each in passages(TEXT) if each}) == 8


def test_a_heading_may_change_its_level():
    assert one("# a\n", "heading").key == one("### a\n", "heading").key


def test_of_what_stands_twice_each_has_its_comments():
    first, second = passages("same\n\nsame")
    found = discussion_of([thread(second)], [first, second])

    assert (found.beside[first.key], len(found.beside[second.key])) == ([], 1)
    assert moved_to(second, "same") == "same"


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("heading", "What helped", "What helped most"),
        ("paragraph", "Decoding", "Reading and decoding"),
        ("widget", "first: 5", "first: 7"),
        ("list", "- two", "- two\n- three"),
    ],
)
def test_words_that_changed_a_little_are_found(kind, before, after):
    changed = TEXT.replace(before, after).replace("What *helped*", "What *helped* most")

    assert moved_to(one(TEXT, kind), changed) == one(changed, kind).words


def test_of_several_the_most_alike_is_found():
    about = one("the learning rate was raised by half", "paragraph")
    text = "the learning rate was cut by half\n\nthe learning rate was raised by a half"

    assert moved_to(about, text) == "the learning rate was raised by a half"


@pytest.mark.parametrize(
    "text", ["", "# What *helped*\n", "Something else.", "- ahead"]
)
def test_what_is_gone_is_about_an_earlier_version(text):
    assert moved_to(one(TEXT, "paragraph"), text) is None


def test_a_heading_is_not_found_in_a_paragraph():
    assert moved_to(one("# What helped", "heading"), "What helped") is None


def test_threads_on_the_whole_are_counted_with_the_others():
    kept = one(TEXT, "list")
    found = discussion_of(
        [thread(), thread(kept), thread(one("gone here", "paragraph"))], passages(TEXT)
    )

    assert [len(each) for each in (found.whole, found.earlier)] == [1, 1]
    assert len(found.beside[kept.key]) == 1
    assert (found.count, found.open_count) == (3, 3)


def test_a_text_of_very_many_blocks_has_so_many_passages():
    found = passages("x\n\n" * 2 * MAX_PASSAGES)

    assert sum(each is not None for each in found) == MAX_PASSAGES
    assert len(found) == 2 * MAX_PASSAGES


def test_what_would_head_a_remark_is_words():
    shown = rendered_remark("# Loud\n\nAlso\n====\n\n**bold** <script>")

    assert "<h" not in shown
    assert "# Loud" in shown
    assert "<strong>bold</strong> &lt;script&gt;" in shown
