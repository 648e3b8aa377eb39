import pytest

from web.figures.text import LONGEST, literal


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("train/loss", "train/loss", id="plain"),
        pytest.param(
            '<a href="https://evil.test">loss</a>',
            '&lt;a href="https://evil.test"&gt;loss&lt;/a&gt;',
            id="link",
        ),
        pytest.param("a&lt;b", "a&amp;lt;b", id="entity"),
        pytest.param("a\x00b\nc", "a␀b␊c", id="control characters"),
        pytest.param("loss\u202egnp.exe", "loss�gnp.exe", id="turned text"),
        pytest.param("שלום", "שלום", id="right to left"),
        pytest.param("__proto__", "__proto__", id="prototype"),
        pytest.param("%{y}", "%{y}", id="template"),
    ],
)
def test_shows_names_letter_for_letter(name, shown):
    assert literal(name) == shown


def test_leaves_out_the_middle_of_a_long_name():
    shown = literal("a" * 500 + "b" * 500)

    assert len(shown) == LONGEST
    assert shown.startswith("aaa")
    assert shown.endswith("bbb")
    assert "…" in shown
