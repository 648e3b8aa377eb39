from __future__ import annotations

from uuid import uuid4

import pytest

from tests.builders import START
from tracker.ingest.opening import from_microseconds
from tracker.models import State

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def report_gone(client, spool_id, after=1, time=START):
    return client.post(f"/api/v1/ingest/{spool_id}/gone?after={after}&time={time}")


def test_notes_when_a_process_was_last_heard_of(writer, run):
    response = report_gone(writer, run.spools.get().id)

    assert response.status_code == 200
    answer = response.json()
    assert (answer["stored"], answer["refused_count"]) == (1, 0)
    run.refresh_from_db()
    assert (run.state, run.ended_at) == (State.CRASHED, from_microseconds(START))


def test_missing_frames_are_answered_with_the_number_expected(writer, run):
    response = report_gone(writer, run.spools.get().id, after=7)

    assert response.status_code == 409
    assert response.json()["error"]["code"] == "out_of_order"
    assert response.json()["error"]["expected"] == 2


def test_an_absent_spool_is_not_found(writer):
    assert report_gone(writer, uuid4()).status_code == 404


@pytest.mark.parametrize(
    ("after", "time"),
    [("", 0), (0, 0), (-1, 0), ("many", 0), (2**63, 0), (1, ""), (1, -1), (1, 10**18)],
)
def test_an_invalid_exit_report_is_refused(writer, run, after, time):
    response = report_gone(writer, run.spools.get().id, after, time)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_input"


def test_reporting_an_exit_needs_a_token_with_log_scope(
    api, reader, client_with, stranger, run
):
    spool_id = run.spools.get().id

    assert report_gone(api("smk_nobody"), spool_id).status_code == 401
    assert report_gone(reader, spool_id).status_code == 403
    assert report_gone(client_with(stranger, "log"), spool_id).status_code == 404

    run.refresh_from_db()
    assert run.state == State.RUNNING
