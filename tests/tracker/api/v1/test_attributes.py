import pytest

from tests.builders import write_series, write_values

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def get(reader, run):
    def get(prefix=""):
        return reader.get(f"/api/v1/runs/{run.id}/attributes", {"prefix": prefix})

    return get


def test_lists_values_and_series_by_path(get, run):
    write_values(run, {"params/lr": 0.1, "params/name": "adam", "params/seed": 2**60})
    write_series(run, "train/loss", [2.0, 1.0])

    attributes = {each["path"]: each for each in get().json()["attributes"]}

    assert list(attributes) == sorted(attributes)
    assert attributes["params/lr"]["value"] == 0.1
    assert attributes["params/name"]["kind"] == "string"
    assert attributes["params/seed"]["value"] == str(2**60)
    assert attributes["train/loss"]["kind"] == "float_series"
    assert "count" in attributes["train/loss"]


def test_a_prefix_is_literal(get, run):
    write_values(run, {"a%b": 1, "axb": 2, "a_c": 3})

    assert [each["path"] for each in get("a%").json()["attributes"]] == ["a%b"]


def test_nan_is_named(get, run):
    write_values(run, {"x": float("nan")})

    [attribute] = get().json()["attributes"]

    assert attribute["value"] == "NaN"


@pytest.mark.parametrize("prefix", ["a\0", "x" * 1_025])
def test_a_prefix_no_path_can_have_is_refused(get, prefix):
    assert get(prefix).status_code == 400
