from datetime import timedelta

import pytest
from django.utils import timezone

from tracker.actions.access import make_token
from tracker.actions.people.audit_context import COMMAND
from tracker.actions.people.keys import revoke_key
from tracker.actor import Scope
from tracker.models import Member, Token

pytestmark = [pytest.mark.django_db, pytest.mark.database]

ME = "/api/v1/me"


def test_a_token_opens_the_api(reader):
    assert reader.get(ME).status_code == 200


def test_a_browser_session_opens_the_api(client_of, member):
    assert client_of(member).get(ME).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        pytest.param({}, id="absent"),
        pytest.param({"authorization": ""}, id="empty"),
        pytest.param({"authorization": "Bearer"}, id="no secret"),
        pytest.param({"authorization": "Bearer smk_wrong"}, id="wrong"),
        pytest.param({"authorization": "Basic dXNlcjpwYXNz"}, id="other scheme"),
        pytest.param({"authorization": "Bearer \u00e9\u00ff"}, id="not ASCII"),
        pytest.param({"authorization": "Bearer " + "x" * 10_000}, id="long"),
    ],
)
def test_without_a_valid_token_nothing_opens(client, header):
    response = client.get(ME, headers=header)

    assert response.status_code == 401
    assert response.json()["error"]["code"] == "not_authenticated"


def test_a_bad_token_is_not_made_good_by_a_session(client_of, member):
    response = client_of(member).get(ME, headers={"authorization": "Bearer smk_wrong"})

    assert response.status_code == 401


def test_a_revoked_token_is_worthless_at_the_next_request(api, member):
    reader = api(make_token(member, "short-lived", Scope.READ))
    assert reader.get(ME).status_code == 200

    revoke_key(Token.objects.get(), COMMAND)

    assert reader.get(ME).status_code == 401


def test_an_expired_token_is_worthless(api, member):
    past = timezone.now() - timedelta(seconds=1)

    response = api(make_token(member, "old", Scope.READ, expires_at=past)).get(ME)

    assert response.status_code == 401


def test_the_token_of_somebody_who_left_reads_nothing(reader, run, member):
    Member.objects.filter(id=member.id).delete()

    assert reader.get(f"/api/v1/runs/{run.id}").status_code in (401, 404)


def test_a_disabled_users_token_is_worthless(reader, member):
    member.user.is_active = False
    member.user.save(update_fields=["is_active"])

    assert reader.get(ME).status_code == 401


READING = [
    "/api/v1/projects",
    "/api/v1/projects/ada-workspace/vision/runs",
    "/api/v1/runs/{run}",
    "/api/v1/runs/{run}/attributes",
    "/api/v1/runs/{run}/series?path=loss",
    "/api/v1/runs/{run}/diagnosis",
]


@pytest.mark.parametrize("path", READING)
def test_every_reading_endpoint_needs_a_scope_to_read(path, run, reader, writer):
    assert reader.get(path.format(run=run.id)).status_code == 200

    response = writer.get(path.format(run=run.id))

    assert response.status_code == 403
    assert response.json()["error"]["code"] == "not_allowed"


@pytest.mark.parametrize("path", READING[1:])
def test_to_a_stranger_everything_looks_absent(path, run, strange_reader):
    response = strange_reader.get(path.format(run=run.id))
    unknown = strange_reader.get(
        path.format(run="00000000-0000-4000-8000-000000000000")
    )

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"
    assert response.content == unknown.content


@pytest.mark.parametrize("path", READING)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_reading_endpoints_change_nothing(path, method, run, reader):
    response = getattr(reader, method)(path.format(run=run.id))

    # A run is deleted at its own URL, but only from the trash and by its owner.
    is_deletion = (method, path) == ("delete", "/api/v1/runs/{run}")
    expected = (404, "not_found") if is_deletion else (405, "method_not_allowed")
    assert (response.status_code, response.json()["error"]["code"]) == expected


def test_a_token_of_one_workspace_does_not_read_another_of_its_user(api, member):
    from tests.builders import make_member, make_project, make_run

    other = make_member("grace")
    guest = Member.objects.create(
        workspace=other.workspace, user=member.user, role="viewer"
    )
    run = make_run(make_project(other), "theirs")

    own = api(make_token(member, "own", Scope.MANAGE))
    guests = api(make_token(guest, "guest", Scope.MANAGE))

    assert own.get(f"/api/v1/runs/{run.id}").status_code == 404
    assert guests.get(f"/api/v1/runs/{run.id}").status_code == 200


DESCRIPTIONS = ["/api/v1/docs", "/api/v1/openapi.json"]


@pytest.mark.parametrize("address", DESCRIPTIONS)
def test_the_description_opens_to_any_token_and_session(
    address, writer, reader, client_of, member
):
    for client in (writer, reader, client_of(member)):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("address", DESCRIPTIONS)
def test_the_description_is_closed_to_strangers(address, client):
    script = client.get(address)
    browser = client.get(address, headers={"accept": "text/html,*/*;q=0.8"})

    assert script.status_code == 401
    assert (browser.status_code, browser["Location"]) == (
        302,
        f"/sign-in?next={address}",
    )
