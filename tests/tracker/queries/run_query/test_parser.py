from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tracker.queries.run_query.written import queries, written
from tracker.models import State
from tracker.queries.run_query import meaning
from tracker.queries.run_query.arithmetic import LARGEST, MAX_OPERATORS, SMALLEST
from tracker.queries.run_query.meaning import RUN_FIELDS
from tracker.queries.run_query.parser import (
    DEEPEST,
    KEYWORDS,
    MAX_CHARACTERS,
    MAX_CONDITIONS,
    parse,
)
from tracker.queries.run_query.refusal import BadQuery
from tracker.queries.run_query.tree import (
    AttributeField,
    Both,
    Calculation,
    Comparison,
    Computed,
    Either,
    Existence,
    IsNan,
    Known,
    Likeness,
    Membership,
    Negation,
    Number,
    RunField,
)

ROOT = Path(__file__).parents[4]
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
LOSS = AttributeField("train/loss")
A, B, C = (Existence(path) for path in "abc")


def read(text):
    return parse(text, NOW)


def refused(text) -> BadQuery:
    with pytest.raises(BadQuery) as refusal:
        read(text)
    return refusal.value


def test_and_binds_tighter_than_or():
    assert read("exists a or exists b and exists c") == Either((A, Both((B, C))))
    assert read("(exists a or exists b) and exists c") == Both((Either((A, B)), C))


def test_not_binds_tightest():
    assert read("not exists a and exists b") == Both((Negation(A), B))
    assert read("not (exists a and exists b)") == Negation(Both((A, B)))
    assert read("not not exists a") == Negation(Negation(A))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("train/loss < 0.3", Comparison(LOSS, "<", 0.3)),
        ("train/loss>=-1e-3", Comparison(LOSS, ">=", -1e-3)),
        ("train/loss != inf", Comparison(LOSS, "!=", math.inf)),
        ("train/loss > -inf", Comparison(LOSS, ">", -math.inf)),
        ("train/loss is nan", IsNan("train/loss")),
        ("EXISTS train/loss", Existence("train/loss")),
        ("params/amp = true", Comparison(AttributeField("params/amp"), "=", True)),
        ('note = "true"', Comparison(AttributeField("note"), "=", "true")),
        ("opt = adam", Comparison(AttributeField("opt"), "=", "adam")),
        ('note ~ "50 %"', Likeness(AttributeField("note"), "50 %")),
        ('tags contains "dali"', Membership("tags", "dali")),
        ("tags contains dali", Membership("tags", "dali")),
        ("min(train/loss) < 1", Comparison(AttributeField("train/loss", "min"), "<", 1.0)),
        ("first_step(x) = 0", Comparison(AttributeField("x", "first_step"), "=", 0.0)),
        ("min = 1", Comparison(AttributeField("min"), "=", 1.0)),
    ],
    ids=str,
)  # fmt: skip
def test_reads_conditions_on_attributes(text, tree):
    assert read(text) == tree


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("state = failed", "state", "failed"),
        ('name = "true"', "name", "true"),
        ("duration = 90", "duration", timedelta(seconds=90)),
        ("duration = 1.5h", "duration", timedelta(minutes=90)),
        ("started = -7d", "started", datetime(2026, 1, 24, 12, tzinfo=UTC)),
        ("created = 2026-01-02", "created", datetime(2026, 1, 2, tzinfo=UTC)),
        (
            'ended = "2026-01-02T03:04:05+01:00"',
            "ended",
            datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC),
        ),
    ],
    ids=str,
)
def test_reads_conditions_on_the_run(text, name, value):
    assert read(text) == Comparison(RunField(name), "=", value)


P, Q, R = (AttributeField(path) for path in "pqr")
ONE, TWO = Number(1.0), Number(2.0)


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("p - q < 1", Calculation(P, "-", Q), ONE),
        ("p-q/r - 1 < 2", Calculation(AttributeField("p-q/r"), "-", ONE), TWO),
        ("p - q - r < 1", Calculation(Calculation(P, "-", Q), "-", R), ONE),
        ("p / q / r < 1", Calculation(Calculation(P, "/", Q), "/", R), ONE),
        ("p + q * r < 1", Calculation(P, "+", Calculation(Q, "*", R)), ONE),
        ("(p + q) * r < 1", Calculation(Calculation(P, "+", Q), "*", R), ONE),
        ("((p + q)) < 1", Calculation(P, "+", Q), ONE),
        ("p + -1 < 2", Calculation(P, "+", Number(-1.0)), TWO),
        ("p*q<1", Calculation(P, "*", Q), ONE),
        ("2 * p < 1", Calculation(TWO, "*", P), ONE),
        ('"p" - "q" < 1', Calculation(P, "-", Q), ONE),
        ("p < q", P, Q),
        ("p < max(q)", P, AttributeField("q", "max")),
        ("p < q + 1", P, Calculation(Q, "+", ONE)),
        ("p / 2 < q", Calculation(P, "/", TWO), Q),
        ("1 < p * 2", ONE, Calculation(P, "*", TWO)),
        ('p < "q" * 2', P, Calculation(Q, "*", TWO)),
    ],
    ids=str,
)
def test_reads_what_is_computed(text, left, right):
    assert read(text) == Computed(left, "<", right)
    for before, after in (("(", ")"), ("not (", ")")):
        inner = read(f"{before}{text}{after}")
        assert getattr(inner, "part", inner) == Computed(left, "<", right)


def test_equal_to_a_word_is_a_text_and_to_a_summary_computed():
    assert read("p = q") == Comparison(P, "=", "q")
    assert read("p = last(q)") == Computed(P, "=", Q)
    assert read("p = q * 1") == Computed(P, "=", Calculation(Q, "*", ONE))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("0.3 > train/loss", "train/loss < 0.3"),
        ("0.3 <= min(train/loss)", "min(train/loss) >= 0.3"),
        ("2h < duration", "duration > 2h"),
        ('1 != "p"', "p != 1"),
    ],
)
def test_a_value_may_stand_on_the_left(text, same):
    assert read(text) == read(same)


@pytest.mark.parametrize(
    ("text", "position", "length", "said"),
    [
        ("p -1 < 2", 2, 2, "needs spaces around it: a - b"),
        ("p - 1 < 2 +3", 10, 2, "needs spaces around it: a + b"),
        ("p- q < 2", 3, 1, "needs spaces around it: a - b"),
        ("p/ q < 2", 3, 1, "needs spaces around it: a / b"),
        ("2/p < 2", 0, 1, "a space"),
        ("p - < 2", 4, 1, "an attribute"),
        ("p - q", 5, 1, "a comparison"),
        ("1 < 2", 0, 1, "needs an attribute"),
        ("1 + 2 < 3 * 4", 0, 1, "needs an attribute"),
        ("p + 1e41 < 1", 4, 4, "1e-40 to 1e40"),
        ("p * 1e-41 < 1", 4, 5, "1e-40 to 1e40"),
        ("p - inf < 1", 4, 3, "must be quoted"),
        ("p - -inf < 1", 4, 4, "attributes and numbers"),
        ("p * 2h < 1", 4, 2, "attributes and numbers"),
        ("p - 2026-01-31 < 1", 4, 10, "attributes and numbers"),
        ("p - true < 1", 4, 4, "must be quoted"),
        ("duration / 60 < 1", 0, 8, 'must be quoted: "duration"'),
        ("p < gpu", 4, 3, 'must be quoted: "gpu"'),
        ("median(p) - 1 < 1", 0, 6, "A summary"),
        ('p - "" < 1', 4, 2, "A path"),
        ('p - q ~ "x"', 6, 1, "a comparison"),
        ("p - q is nan", 6, 2, "a comparison"),
        ("p + p + p + p + p + p + p + p < 1", 0, 1, f"at most {MAX_OPERATORS}"),
    ],
)
def test_an_invalid_expression_is_refused_with_its_position(
    text, position, length, said
):
    error = refused(text)

    assert said in str(error)
    assert (error.position, error.length) == (position, length)


@pytest.mark.parametrize("field", RUN_FIELDS)
def test_a_field_of_the_run_needs_quotes_to_be_a_path(field):
    assert read(f"exists {field}") == Known(RunField(field))
    assert read(f'exists "{field}"') == Existence(field)
    assert read(f'"{field}" = 3') == Comparison(AttributeField(field), "=", 3.0)


@pytest.mark.parametrize("text", ["gpu = a100", "energy contains a", "cpu > 2h"])
def test_an_ambiguous_word_gets_a_hint_to_quote_it(text):
    assert f'must be quoted: "{text.split()[0]}"' in str(refused(text))


@pytest.mark.parametrize(
    "path",
    ["two words", 'a "b" c', "back\\slash", "größe/µ", "state", "and", "2x", "€"],
)
def test_a_quoted_path_may_hold_anything(path):
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')

    assert read(f'exists "{path}"' if quoted == path else f'exists "{quoted}"') == (
        Existence(path)
    )
    assert read(f'"{quoted}" = 1') == Comparison(AttributeField(path), "=", 1.0)


def test_letters_of_all_languages_need_no_quotes():
    assert read("größe/µ = 1") == Comparison(AttributeField("größe/µ"), "=", 1.0)


@pytest.mark.parametrize("word", KEYWORDS)
def test_keywords_may_be_capitals_and_the_beginning_of_a_path(word):
    assert read(f"exists {word}_x") == Existence(f"{word}_x")
    assert "path" in str(refused(f"exists {word.upper()}"))


@pytest.mark.parametrize(
    ("text", "position", "length"),
    [
        ("", 0, 1),
        ("a <", 3, 1),
        ("a < 3 b = 1", 6, 1),
        ("(a < 3", 6, 1),
        ("a < 3)", 5, 1),
        ('a = "open', 4, 5),
        ("a & b", 2, 1),
        ("a = nan", 4, 3),
        ("a = 3h", 4, 2),
        ("state = happy", 8, 5),
        ("state < failed", 6, 1),
        ('a > "text"', 2, 1),
        ("a > true", 2, 1),
        ("mean(a) = text", 10, 4),
        ("median(a) = 1", 0, 6),
        ("started > yesterday", 10, 9),
        ("started > 2026-13-01", 10, 10),
        ("started > 5", 10, 1),
        ("duration > 1e300", 11, 5),
        ("duration > 99999999d", 11, 9),
        ('duration ~ "a"', 9, 1),
        ('min(a) ~ "a"', 7, 1),
        ("gpu_idle > much", 11, 4),
        ("gpu_hours > 2h", 12, 2),
        ("energy = 2026-01-31", 9, 10),
        ('gpu ~ "4"', 4, 1),
        ("finding < a", 8, 1),
        ("finding contains data", 0, 7),
        ("cpu is nan", 4, 2),
        ("state is nan", 6, 2),
        ('exists ""', 7, 2),
        ("a = 1\0", 5, 1),
        ("a = \ud800", 4, 1),
        ("__class__", 9, 1),
        ("__import__('os').system('true')", 11, 1),
        ("1=1; DROP TABLE tracker_run --", 3, 1),
        ("a = 1 UNION SELECT * FROM tracker_token", 6, 5),
        ("a' OR '1'='1", 1, 1),
    ],
)
def test_a_refusal_says_where(text, position, length):
    error = refused(text)

    assert (error.position, error.length) == (position, length)
    assert str(error).endswith(".")


@pytest.mark.parametrize(
    "text",
    [
        "a = 1" + " " * MAX_CHARACTERS,
        "x" * 10_000,
        "(" * 1_000 + "a = 1" + ")" * 1_000,
        "(" * (DEEPEST + 1) + "a = 1" + ")" * (DEEPEST + 1),
        "not " * 400 + "a = 1",
        " and ".join(["a = 1"] * (MAX_CONDITIONS + 1)),
        " and ".join(["a + b * c = 1"] * (MAX_CONDITIONS // 2 + 1)),
    ],
    ids=lambda text: text[:6],
)
def test_a_query_beyond_its_limits_is_refused(text):
    assert "most" in str(refused(text))


def test_a_query_at_its_limits_is_read():
    text = "(" * DEEPEST + " or ".join(["a = 1"] * MAX_CONDITIONS) + ")" * DEEPEST

    assert len(read(text).parts) == MAX_CONDITIONS
    assert read("a = 1".ljust(MAX_CHARACTERS))


@given(queries)
def test_whatever_is_meant_can_be_written(tree):
    text = written(tree)
    # Only the size limits may reject it.
    assume(len(text) <= MAX_CHARACTERS and text.count("(") <= DEEPEST)

    assert read(text) == tree


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                *KEYWORDS,
                *("a", '"b"', "(", ")", "<", "=", "~", "1", "2h", "min(", "true"),
                *("+", "-", "*", "/", "-1", "gpu", "a/"),
            ]
        ),
        max_size=40,
    ).map(" ".join)
)
def test_any_text_is_read_or_refused_with_its_place(text):
    error = None
    try:
        read(text)
    except BadQuery as refusal:
        error = refusal

    assert error is None or (0 <= error.position <= len(text) and error.length > 0)


def test_the_states_are_those_of_runs():
    assert set(meaning.STATES) == set(State.values)


def test_the_limits_are_those_documented():
    documented = (ROOT / "docs/query-language.md").read_text()

    assert f"at most {MAX_CHARACTERS:,} characters and {MAX_CONDITIONS}" in documented
    assert f"at most {DEEPEST} deep" in documented
    assert f"{MAX_OPERATORS} of `+`" in documented
    assert f"{SMALLEST:g}" in documented
    assert f"{LARGEST:g}".replace("+", "") in documented
    assert all(f"`{state}`" in documented for state in meaning.STATES)


def test_the_documentations_conditions_are_read():
    page = (ROOT / "docs/query-language.md").read_text()
    documented = page.split("## Conditions")[1].split("\n## ")[0]
    written = re.findall(r"^\| `([^`]+)` \| (?!.*written)", documented, re.M)

    assert len(written) > 10
    for text in written:
        assert read(text)
