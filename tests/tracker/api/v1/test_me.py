import pytest

from tracker.version import VERSION

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_says_who_calls_and_what_they_may(reader):
    assert reader.get("/api/v1/me").json() == {
        "version": VERSION,
        "user": "ada",
        "scope": "read",
        "workspaces": [
            {"slug": "ada-workspace", "name": "ada's", "role": "owner"},
        ],
    }


def test_an_ingest_token_may_be_checked_too(writer):
    assert writer.get("/api/v1/me").json()["scope"] == "log"
