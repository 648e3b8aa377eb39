import json
import math

import numpy as np
import pytest

from tracker.api.answers import json_response, number, numbers, value


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (None, None),
        (1, 1),
        (0.5, 0.5),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (2**53, 2**53),
        (2**53 + 1, "9007199254740993"),
        (-(2**63), "-9223372036854775808"),
    ],
)
def test_a_number_json_lacks_is_answered_by_name(given, answer):
    assert number(given) == answer


def test_numbers_are_answered_alike_alone_and_in_a_column():
    column = np.array([1.5, math.nan, math.inf, -math.inf])

    assert numbers(column) == [1.5, "NaN", "Infinity", "-Infinity"]
    assert numbers(column[:1]) == [1.5]
    assert numbers(column[:0]) == []


@pytest.mark.parametrize("given", [True, "text", ["a", "b"], None])
def test_other_values_stay_as_they_are(given):
    assert value(given) is given


def test_the_answer_is_strict_json():
    response = json_response({"values": numbers(np.array([math.nan]))})

    def refuse(constant):
        raise AssertionError(constant)

    assert json.loads(response.content, parse_constant=refuse) == {"values": ["NaN"]}
    assert response["Content-Type"] == "application/json"
