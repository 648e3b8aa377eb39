import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
import zstandard
from django.db import OperationalError, connection
from django.utils import timezone

from tests.builders import (
    Process,
    frames,
    make_member,
    make_project,
    open_message,
    points_message,
    set_message,
)
from tracker.actions.access import make_token
from tracker.actor import Scope
from tracker.api.v1 import ingest
from tracker.ingest.limits import LIMITS
from tracker.models import JournalEntry, Project, Run, Spool, Token, User
from tracker.queries.series.series import read_points

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CONTENT_TYPE = "application/vnd.seamark.frames"


def send(client, body, spool_id=None, **headers):
    return client.post(
        f"/api/v1/ingest/{spool_id or uuid4()}",
        body,
        content_type=headers.pop("content_type", CONTENT_TYPE),
        headers=headers,
    )


def test_stores_a_batch_and_says_how_far(writer):
    body = frames([[open_message("baseline")], [points_message("loss", [1.0, 2.0])]])

    response = send(writer, body)

    assert response.status_code == 200
    run = Run.objects.get()
    assert response.json() == {
        "stored": 2,
        "refused": [],
        "refused_count": 0,
        "run": str(run.id),
        "numbered_name": None,
    }
    assert read_points(run, "loss").values.tolist() == [1.0, 2.0]


def test_takes_a_compressed_batch(writer):
    body = zstandard.ZstdCompressor().compress(frames([[open_message("baseline")]]))

    response = send(writer, body, **{"content-encoding": "zstd"})

    assert response.json()["stored"] == 1


def test_lists_what_it_refused(writer):
    body = frames([[open_message()], [set_message("", 1), {"t": "picture"}]])

    answer = send(writer, body).json()

    assert answer["refused_count"] == 2
    assert answer["refused"][0] == {
        "frame": 2,
        "index": 0,
        "code": "invalid_path",
        "message": "The path is empty.",
        "path": "",
    }


def test_an_empty_body_is_a_heartbeat(writer, run):
    response = send(writer, b"", run.spools.get().id)

    assert response.json()["stored"] == 1


def test_a_gap_is_answered_with_the_number_expected(writer, run):
    body = frames([[set_message("x", 1)]], first=9)

    response = send(writer, body, run.spools.get().id)

    assert response.status_code == 409
    assert response.json()["error"]["code"] == "out_of_order"
    assert response.json()["error"]["expected"] == 2


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        pytest.param(b"x", {}, 400, "malformed_batch", id="no frames"),
        pytest.param(
            b"x", {"content-encoding": "zstd"}, 400, "malformed_batch", id="no zstd"
        ),
        pytest.param(
            b"x", {"content-encoding": "br"}, 415, "unsupported_media", id="encoding"
        ),
        pytest.param(
            b"{}",
            {"content_type": "application/json"},
            415,
            "unsupported_media",
            id="type",
        ),
        pytest.param(
            bytes(LIMITS.body_bytes + 1), {}, 413, "too_large", id="too many bytes"
        ),
        pytest.param(
            zstandard.ZstdCompressor().compress(bytes(1024**3)),
            {"content-encoding": "zstd"},
            413,
            "too_large",
            id="bomb of 1 GiB",
        ),
    ],
)
def test_refuses_clearly_and_stores_nothing(writer, body, headers, status, code):
    response = send(writer, body, **headers)

    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert not Project.objects.exists()


def test_a_body_without_its_length_is_refused(writer):
    response = writer.generic(
        "POST",
        f"/api/v1/ingest/{uuid4()}",
        frames([[open_message()]]),
        content_type=CONTENT_TYPE,
        headers={"transfer-encoding": "chunked"},
    )

    assert response.status_code == 411


def test_a_token_is_needed(client):
    assert send(client, b"").status_code == 401


def test_a_browser_session_does_not_write(client_of, member):
    assert send(client_of(member), frames([[open_message()]])).status_code == 401


def test_a_reading_token_does_not_write(reader):
    response = send(reader, frames([[open_message()]]))

    assert response.status_code == 403
    assert response.json()["error"]["code"] == "not_allowed"


def test_a_stranger_does_not_reach_the_spool(client_with, stranger, run):
    body = frames([[set_message("x", 1)]], first=2)

    response = send(client_with(stranger, "log"), body, run.spools.get().id)

    assert response.status_code == 409
    assert response.json()["error"]["expected"] == 1


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_only_post_is_answered(writer, method):
    response = getattr(writer, method)(f"/api/v1/ingest/{uuid4()}")

    assert response.status_code == 405
    assert response.json()["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("spool", ["1", "not-a-uuid", "0b1c", "../me", "%2e%2e"])
def test_a_spool_is_a_uuid(writer, spool):
    response = writer.post(f"/api/v1/ingest/{spool}", b"", content_type=CONTENT_TYPE)

    assert response.status_code == 404
    assert response["Content-Type"] == "application/json"


def test_a_database_that_is_away_is_answered_with_when_to_come_back(
    writer, monkeypatch
):
    def locked(*_, **__):
        raise OperationalError("database is locked")

    monkeypatch.setattr(ingest, "store_batch", locked)

    response = send(writer, frames([[open_message()]]))

    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0


@pytest.fixture
def standby():
    """A PostgreSQL that rejects writes, for example after a failover."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no standby")

    def say(what):
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")
            database = connection.ops.quote_name(connection.settings_dict["NAME"])
            cursor.execute(
                f"ALTER DATABASE {database} SET default_transaction_read_only = {what}"
            )
        # New connections use the new setting.
        connection.close()
        connection.close_pool()

    yield lambda: say("on")
    say("off")


@pytest.mark.django_db(transaction=True)
def test_a_standby_is_a_database_that_is_away(api, client_of, standby):
    member = make_member()
    client = api(make_token(member, "agent", Scope.MANAGE))
    assert send(client, frames([[open_message("baseline")]])).status_code == 200
    run, browser = Run.objects.get(), client_of(member)
    standby()

    answers = [
        send(client, frames([[open_message("other")]])),
        client.post(f"/api/v1/runs/{run.id}/pin"),
        browser.post(f"/runs/{run.id}/pin"),
    ]

    assert [answer.status_code for answer in answers] == [503] * 3
    assert all(int(answer["Retry-After"]) > 0 for answer in answers)
    assert client.get(f"/api/v1/runs/{run.id}").status_code == 200
    assert browser.get(f"/runs/{run.id}/").status_code == 200


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "../../etc", "\u202e", "__proto__", "x" * 255]
)
def test_hostile_names_are_only_names(writer, reader, name):
    opening = open_message(name, project=name[:200], stage=name[:100], host=name)

    assert send(writer, frames([[opening]])).json()["stored"] == 1

    [project] = reader.get("/api/v1/projects").json()["projects"]
    runs = f"/api/v1/projects/{project['workspace']}/{project['slug']}/runs"
    assert project["name"] == name[:200]
    assert [run["name"] for run in reader.get(runs).json()["runs"]] == [name]


@pytest.mark.django_db(transaction=True)
def test_the_same_batch_twenty_times_at_once_is_stored_once(api):
    member = make_member()
    process = Process(make_project(member), "baseline")
    process.open()
    client = api(make_token(member, "many", Scope.LOG))
    body = frames([[points_message("loss", [1.0])]], first=2)

    def once(_):
        try:
            return send(client, body, process.spool_id).json()
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(once, range(20)))

    assert [(answer["stored"], answer["refused"]) for answer in answers] == [
        (2, [])
    ] * 20
    assert JournalEntry.objects.count() == 1


@pytest.fixture
def process_in_progress(writer):
    """Return the id of a queue whose next batch of `loss` takes the fast path."""
    spool_id = uuid4()
    body = frames([[open_message()], [points_message("loss", [1.0], steps=[1.0])]])
    assert send(writer, body, spool_id).status_code == 200
    return spool_id


@pytest.mark.parametrize("body", [b"", b"nonsense", b"next"])
@pytest.mark.parametrize(
    "change",
    [
        lambda: Token.objects.update(revoked_at=timezone.now()),
        lambda: Token.objects.update(expires_at=timezone.now()),
        lambda: User.objects.update(is_active=False),
    ],
    ids=["revoked", "expired", "deactivated"],
)
def test_a_token_that_was_good_a_moment_ago_is_not(
    writer, process_in_progress, change, body
):
    if body == b"next":
        body = frames([[points_message("loss", [2.0], steps=[2.0])]], first=3)
    change()

    response = send(writer, body, process_in_progress)

    assert response.status_code == 401
    assert Spool.objects.get().last_number == 2


def test_the_use_of_a_token_is_noted_each_minute(
    writer, process_in_progress, monkeypatch
):
    long_ago = timezone.now() - timedelta(hours=1)
    Token.objects.update(last_used_at=long_ago)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)

    body = frames([[points_message("loss", [2.0], steps=[2.0])]], first=3)
    assert send(writer, body, process_in_progress).status_code == 200

    assert Token.objects.get().last_used_at > long_ago
