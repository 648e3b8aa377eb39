import json
import sys
from contextlib import suppress

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from tracker.api.strict_json import read_json
from tracker.errors import InvalidInput
from tracker.models import Ladder

LADDERS = "/api/v1/projects/ada-workspace/vision/ladders"
WANTED = '"name": "climb", "rungs": [{"run": "baseline"}]'
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**70), 2**70)
    | st.text(st.characters(exclude_categories=("Cs",)), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(anything)
def test_reads_what_others_read(content):
    assert read_json(json.dumps(content).encode()) == content


@given(st.binary(max_size=50))
def test_any_bytes_are_read_or_refused(body):
    with suppress(InvalidInput):
        read_json(body)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("[" * 100_000 + "]" * 100_000, "nested too deeply", id="lists"),
        pytest.param('{"a":' * 100_000, "nested too deeply", id="maps"),
        pytest.param(f'{{"x": {"9" * 5_000}, {WANTED}}}', "400 digits", id="digits"),
        pytest.param(f'{{"name": "a", {WANTED}}}', "duplicate key", id="key twice"),
        pytest.param(f"\ufeff{{{WANTED}}}", "BOM", id="byte order mark"),
        pytest.param(f"{{{WANTED}}}x", "Extra data", id="more behind it"),
        pytest.param(f"{{{WANTED}}}\0", "Extra data", id="NUL behind it"),
        pytest.param(f'{{"x": 1e999, {WANTED}}}', "64 bits", id="1e999"),
        pytest.param(f'{{"x": NaN, {WANTED}}}', "NaN", id="NaN"),
        pytest.param(f"{{{WANTED}}}".encode("utf-16"), "UTF-8", id="UTF-16"),
        pytest.param(b'{"name": "\xed\xa0\x80"}', "UTF-8", id="surrogate"),
        pytest.param("", "required", id="nothing"),
        pytest.param("[]", "JSON object", id="no map"),
    ],
)
@pytest.mark.django_db
def test_ambiguous_json_is_refused_with_the_reason(
    client_with, member, run, body, reason
):
    response = client_with(member, "manage").generic(
        "POST", LADDERS, body, content_type="application/json"
    )

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"
    assert reason in response.json()["error"]["message"]
    assert not Ladder.objects.exists()


@pytest.mark.django_db
def test_a_body_beyond_the_limit_is_too_large(client_with, member, run):
    body = f'{{{WANTED}, "x": "{"x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE}"}}'

    response = client_with(member, "manage").post(
        LADDERS, body, content_type="application/json"
    )

    assert response.status_code == 413
    assert response.json()["error"]["code"] == "too_large"


def test_digits_are_counted_before_python_would_refuse():
    assert read_json(b"9" * 400) == 10**400 - 1
    assert sys.get_int_max_str_digits() > 400
