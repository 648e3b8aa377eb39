"""The API describes itself correctly, also on a page for browsers."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator

from tests.builders import write_series, write_tags, write_values
from tracker.api.description import LINKS, MEANINGS, PREFIX
from tracker.api.urls import v1
from tracker.server.statuses import STATUS

HOW_TO = Path(__file__).parents[3] / "docs/how-to/http-api.md"
# Available without authentication.
PUBLIC = {"/livez", "/readyz"}
ANSWERS = [
    "/api/v1/me",
    "/api/v1/projects",
    "/api/v1/projects/{workspace}/{project}/runs",
    "/api/v1/projects/{workspace}/{project}/attribute-paths",
    "/api/v1/runs/{run_id}",
    "/api/v1/runs/{run_id}/attributes",
    "/api/v1/runs/{run_id}/series",
    "/api/v1/runs/{run_id}/diagnosis",
    "/api/v1/projects/{workspace}/{project}/ladders",
    "/api/v1/limits",
]


def description():
    # Through JSON, like the document that clients get.
    return json.loads(json.dumps(v1.get_openapi_schema(), default=str))


def test_every_endpoint_is_described_and_documented():
    described = description()["paths"]

    assert set(described) >= set(ANSWERS)
    for path, operations in described.items():
        assert f"`{path.removeprefix('/api/v1')}`" in HOW_TO.read_text()
        for operation in operations.values():
            assert operation["description"]
            assert operation["security"] or path in PUBLIC


def test_every_refusal_is_described_and_documented():
    documented = HOW_TO.read_text()

    assert MEANINGS.keys() == STATUS.keys()
    for refusal, status in STATUS.items():
        assert f"| {int(status)} | `{refusal.code}` |" in documented


def test_every_endpoint_says_what_it_refuses():
    for path, operations in description()["paths"].items():
        for operation in operations.values():
            responses = operation["responses"]
            expected = {"400", "503"} if path != "/livez" else {"400"}
            expected |= {"401"} if operation["security"] else set()
            expected |= {"404"} if "{" in path else set()
            expected |= {"413"} if "requestBody" in operation else set()
            assert expected <= responses.keys(), path


def test_only_what_moves_runs_to_the_trash_is_refused_for_pinned_ones():
    refusing = {
        path
        for path, operations in description()["paths"].items()
        for operation in operations.values()
        if "`pinned`" in operation["responses"].get("409", {}).get("description", "")
    }

    assert refusing == {"/api/v1/runs/{run_id}/trash"}


def test_links_lead_from_endpoints_to_endpoints():
    names = {
        operation["operationId"].removeprefix(PREFIX)
        for operations in description()["paths"].values()
        for operation in operations.values()
    }

    assert names >= LINKS.keys()
    assert names >= {target for links in LINKS.values() for target in links}


@pytest.mark.django_db
@pytest.mark.database
@pytest.mark.parametrize("path", ANSWERS)
def test_every_answer_is_as_described(path, reader, run):
    write_series(run, "loss", [1.0, float("nan"), float("inf")])
    write_values(run, {"lr": 0.1, "n": 2**60, "name": "a", "on": True, "x": ["a"]})
    write_tags(run, "good")
    address = path.format(workspace="ada-workspace", project="vision", run_id=run.id)

    answer = reader.get(
        address, {"path": "loss", "column": ["loss", "lr", "none"]}
    ).json()

    whole = description()
    content = whole["paths"][path]["get"]["responses"]["200"]["content"]
    schema = content["application/json"]["schema"] | {"components": whole["components"]}
    assert list(Draft202012Validator(schema).iter_errors(answer)) == []


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("/api/v1/nothing", id="unknown"),
        pytest.param("/api/v2/me", id="another version"),
        pytest.param("/api/", id="no version"),
        pytest.param("/api/v1/runs/" + quote("\0"), id="NUL"),
        pytest.param("/api/v1//me", id="double slash"),
        pytest.param("/api/v1/me;admin=1", id="semicolon"),
        pytest.param("/api/v1/%252e%252e/me", id="double encoding"),
        pytest.param("/api/v1/..%5cme", id="backslash"),
    ],
)
def test_absent_addresses_answer_with_the_common_error_shape(client, address):
    response = client.get(address)

    assert response.status_code == 404
    assert set(response.json()["error"]) == {"code", "message"}


def test_a_method_cannot_be_overridden(client):
    response = client.post("/api/v1/limits", headers={"x-http-method-override": "GET"})

    assert response.status_code == 405
