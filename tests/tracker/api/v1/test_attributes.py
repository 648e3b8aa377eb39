import json

import pytest
from django.db import OperationalError

from tests.builders import (
    Process,
    records_message,
    write_series,
    write_tags,
    write_values,
)
from tracker.api.v1 import attributes as endpoint
from tracker.models import Attribute
from tracker.queries.run import attributes as queries
from tracker.queries.run.attributes import AttributePage, measured

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def get(reader, run):
    def get(prefix="", of="", **query):
        address = f"/api/v1/runs/{run.id}/attributes{of}"
        return reader.get(address, {"prefix": prefix, **query})

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


def test_concurrent_writers_of_a_text_are_listed(get, run):
    for rank in (0, 1):
        process = Process(run.project, run.name, rank=rank)
        process.open()
        process.send([records_message("logs/stdout", ["a", "b"])])

    [attribute] = get("logs/").json()["attributes"]

    assert [writer["rank"] for writer in attribute["writers"]] == [0, 1]
    assert attribute["count"] == 4


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


@pytest.fixture
def pages(get):
    """Return a function that reads all pages, and returns the rows of each."""

    def pages(**query):
        found, cursor = [], ""
        while True:
            answer = get(cursor=cursor, **query).json()
            found.append(answer["attributes"])
            cursor = answer["next"]
            if not cursor:
                return found

    return pages


def test_a_page_holds_no_more_than_was_asked_for_and_leads_to_the_next(pages, run):
    write_values(run, {f"params/{name}": 1 for name in "edcba"} | {"other": 2})

    found = pages(prefix="params/", limit=2)

    assert [[row["path"][-1] for row in page] for page in found] == [
        *(["a", "b"], ["c", "d"], ["e"])
    ]


def test_the_default_page_has_a_thousand_attributes(get, run):
    write_values(run, {f"m/{number:04}": number for number in range(1_001)})

    answer = get().json()

    assert len(answer["attributes"]) == 1_000
    assert answer["next"] == "m/0999"
    assert get(limit=1_001).json()["next"] == ""


def test_long_texts_are_whole_and_leave_room_for_fewer(pages, run, monkeypatch):
    monkeypatch.setattr(queries, "MAX_CHARACTERS", 1_000)
    values = {"a": "x" * 600, "b": "y" * 300, "c": "z" * 60_000, "d": 1, "e": 2}
    write_values(run, values)
    write_tags(run, *(f"tag {number:03}" for number in range(200)))

    found = pages()

    assert [[row["path"] for row in page] for page in found] == [
        *(["a", "b"], ["c"], ["d", "e"], ["tags"])
    ]
    rows = {row["path"]: row["value"] for page in found for row in page}
    assert {path: rows[path] for path in values} == values
    assert len(rows["tags"]) == 200


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 10_001}, {"cursor": "a\0"}, {"cursor": "x" * 1_025}],
)
def test_an_invalid_page_is_refused(get, query):
    response = get(**query)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"


def test_a_page_behind_the_last_is_empty(get, run):
    write_values(run, {"a": 1})

    assert get(cursor="zzz").json() == {"attributes": [], "next": ""}


@pytest.mark.parametrize("count", [0, 1, 5])
def test_all_come_as_one_file(get, pages, run, monkeypatch, count):
    monkeypatch.setattr(endpoint, "AT_ONCE", 2)
    write_values(run, {f"params/{number}": number for number in range(count)})
    write_values(run, {"other": float("nan")})

    response = get("params/", "/all")
    answer = json.loads(b"".join(response))

    rows = [row for page in pages(prefix="params/") for row in page]
    assert "baseline-attributes.json" in response["Content-Disposition"]
    assert answer == {"attributes": rows, "next": ""}
    assert len(answer["attributes"]) == count


def test_a_file_that_breaks_off_is_no_json(get, run, monkeypatch):
    monkeypatch.setattr(endpoint, "AT_ONCE", 2)
    write_values(run, {f"params/{number}": number for number in range(5)})
    response = get("", "/all")
    parts = iter(response)
    body = next(parts) + next(parts)

    def away(*_, **__):
        raise OperationalError("gone")

    monkeypatch.setattr(endpoint, "attribute_page", away)
    with pytest.raises(OperationalError):
        next(parts)

    with pytest.raises(json.JSONDecodeError):
        json.loads(body)


def test_a_page_that_lost_its_rows_leaves_the_file_whole(get, run, monkeypatch):
    pages = iter([AttributePage((), "a"), AttributePage((), "b")])
    write_values(run, {"params/lr": 0.1})
    real = endpoint.attribute_page

    def purged(*arguments, **options):
        return next(pages, None) or real(*arguments, **{**options, "cursor": ""})

    monkeypatch.setattr(endpoint, "attribute_page", purged)
    answer = json.loads(b"".join(get("", "/all")))

    assert [row["path"] for row in answer["attributes"]] == ["params/lr"]


def test_long_texts_are_measured_only_up_to_the_size_of_a_page(run, monkeypatch):
    monkeypatch.setattr("tracker.queries.run.attributes.MAX_CHARACTERS", 1_000)
    monkeypatch.setattr("tracker.queries.run.attributes.MEASURED_FIRST", 2)
    write_values(run, {f"params/{number:02}": "x" * 600 for number in range(40)})
    rows = Attribute.objects.filter(run_id=run.id).order_by("path")

    assert len(measured(rows, most=100)) == 2
    monkeypatch.setattr("tracker.queries.run.attributes.MAX_CHARACTERS", 10_000)
    assert 16 <= len(measured(rows, most=100)) <= 20
    assert len(measured(rows, most=7)) == 7


def test_a_file_of_all_is_for_readers_of_the_run_only(get, run, writer, strange_reader):
    address = f"/api/v1/runs/{run.id}/attributes/all"

    assert writer.get(address).status_code == 403
    assert strange_reader.get(address).status_code == 404
