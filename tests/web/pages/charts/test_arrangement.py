"""Validation and round trip of chart arrangements."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.errors import InvalidInput
from web.pages.charts.arrangement import (
    Arrangement,
    arranged,
    chart_key,
    read_arrangement,
)

BODY = {
    "pinned": [["train/loss"], ["a", "b"]],
    "joined": [["a", "b"]],
    "folded": ["infer/"],
    "unfolded": ["monitoring/train/"],
    "sizes": [[["a", "b"], 2, 300]],
    "log": [["train/loss"]],
    "size": "large",
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*BODY, "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def test_what_was_written_is_read():
    found = read_arrangement(orjson.dumps(BODY))

    assert found.pinned == (("train/loss",), ("a", "b"))
    assert found.sizes == {("a", "b"): (2, 300)}
    assert orjson.loads(orjson.dumps(found.body)) == BODY


def test_nothing_is_what_everybody_has():
    assert read_arrangement("{}") == Arrangement()
    assert Arrangement().body == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("[]", id="a list"),
        pytest.param('{"pinned": [[]]}', id="a chart of nothing"),
        pytest.param('{"pinned": [[1]]}', id="no path"),
        pytest.param('{"pinned": [["a\\u0000"]]}', id="NUL"),
        pytest.param('{"sizes": [[["a"], "2", 3]]}', id="no number"),
        pytest.param('{"size": "vast"}', id="no such size"),
        pytest.param('{"pinned": ' + '[["a"],' * 300, id="not JSON"),
        pytest.param('{"folded": ["' + "x" * 3_000 + '"]}', id="too long a path"),
        pytest.param("[" * 200_001, id="too long"),
    ],
)
def test_refuses_anything_else(text):
    with pytest.raises(InvalidInput):
        read_arrangement(text)


@given(json_values)
def test_no_json_is_more_than_refused(body):
    try:
        found = arranged(body)
    except (TypeError, ValueError):
        return
    assert arranged(orjson.loads(orjson.dumps(found.body))) == found


def test_a_chart_of_one_line_is_not_joined_and_sizes_have_limits():
    found = read_arrangement('{"joined": [["a"]], "sizes": [[["a"], 99, 99999]]}')

    assert found.joined == ()
    assert found.sizes == {("a",): (6, 2_000)}


@pytest.mark.parametrize(
    "path", ["a b", 'q"uote', "back\\slash", "שלום\u202e", "\x1f\x7f"]
)
def test_a_key_is_json_as_browsers_write_it(path):
    assert orjson.loads(chart_key([path])) == [path]
    assert ", " not in chart_key([path, path])
