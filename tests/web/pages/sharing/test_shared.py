"""Content that visitors by share link see, and content that they never see."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import get_script_prefix
from django.utils import timezone
from django.utils.html import escape
from plotly.offline import get_plotlyjs

from tests.builders import (
    browser_of,
    make_member,
    make_project,
    make_run,
    write_values,
)
from tests.web.shared_site import (
    ALL_PARTS,
    MARKS,
    NEVER,
    addresses_in,
    crawl,
    make_site,
    slow,
)
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.runs.trash import move_to_trash
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part
from tracker.disclosure import NOT_SHARED
from tracker.models import Finding, Role, ShareLink

pytestmark = [pytest.mark.django_db, pytest.mark.database]

COMPARE = "w/ada-workspace/vision/compare"
HOST = "monitoring/train/facts/host"
# Query for values of several parts.
DIVIDED = f"colour={HOST}&dash=monitoring/train/git/remote&chart=params/optimizer"
LAID_OUT = (
    f"dimension={HOST}&dimension=params/optimizer&dimension=note&dimension=count-of-theirs"
    f"&colour={HOST}&x=params/optimizer&y={HOST}&size=monitoring/train/source/text"
)


@pytest.fixture
def site(member, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return make_site(make_project(member), member)


@pytest.fixture
def quick(member):
    """A link to a run without data."""
    project = make_project(member)
    run = make_run(project, "<i>quick</i>", "finished")
    link_request = LinkRequest("run", str(run.id))
    return f"/s/{make_link(project, browser_of(member), link_request)}/", run


def open_page(base, client=None):
    return (client or Client()).get(base, follow=True)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("run", frozenset({Part.CONFIG})),
        ("comparison", frozenset()),
        *[slow("run", part) for part in Part if part is not Part.CONFIG],
        slow("run"),
        slow("ladder"),
        slow("ladder", *ALL_PARTS),
        slow("comparison", Part.CONFIG),
    ],
    # Test processes must agree on the names, so each set is sorted.
    ids=lambda value: value if isinstance(value, str) else "+".join(sorted(value)),
)
def test_whatever_a_page_leads_to_answers_and_tells_no_more_than_was_ticked(
    site, kind, parts
):
    base = site.link(kind, parts)

    answers = crawl(Client(), base)

    assert [address for address in answers if not address.startswith(base)] == []
    assert {a: status for a, (status, _) in answers.items() if status >= 400} == {}
    # Plotly's own code uses words of ours.
    plotly = get_plotlyjs()
    texts = {
        address: text.replace(plotly, "")
        for address, (_, text) in answers.items()
        if not address.endswith("/plotly.js")
    }
    # The crawl followed only a few of the tree's branches.
    for branch in ("source", "git", "failure", "environment"):
        found = f"{base}runs/{site.first.id}/attributes?search={branch}/"
        texts[found] = Client().get(found).content.decode()
    # Pages that only members have links to.
    runs = f"{site.first.id},{site.second.id},{site.sibling.id}"
    for asked in (
        f"runs/{site.first.id}/source?against={site.sibling.id}",
        f"runs/{site.first.id}/attributes?path=params/optimizer",
        f"{COMPARE}?runs={runs}&tab=source&left={site.sibling.id}",
        f"{COMPARE}?runs={runs}&tab=parallel&among=1",
        f"{COMPARE}?runs={runs}&tab=scatter&among=1&x=params/optimizer",
        f"{COMPARE}?runs={runs}&tab=findings",
        f"{COMPARE}?runs={runs}&together=params/optimizer",
        f"{COMPARE}?runs={runs}&{DIVIDED}",
        f"{COMPARE}?runs={runs}&tab=parallel&{LAID_OUT}",
        f"{COMPARE}?runs={runs}&tab=scatter&{LAID_OUT}",
        f"{COMPARE}/scatter?runs={runs}&among=1&{LAID_OUT}",
        f"{COMPARE}/figure?runs={runs}&path=train/loss&together=params/optimizer",
        f"{COMPARE}/figure?runs={runs}&path=train/loss&together={HOST}",
    ):
        texts[asked] = Client().get(base + asked).content.decode()
    told = {mark: where(mark, texts) for part in parts for mark in MARKS[part]}
    untold = [mark for part in Part if part not in parts for mark in MARKS[part]]
    leaked = {mark: where(mark, texts) for mark in [*untold, *NEVER]}
    assert {mark: places for mark, places in leaked.items() if places} == {}
    assert [mark for mark, places in told.items() if not places] == []
    for shown in ("train/loss", "test/accuracy", "a processor"):
        assert where(shown, texts)


def test_what_was_measured_beside_other_runs_is_not_shown(site):
    found = Finding.objects.filter(run=site.first, is_primary=True)
    found.update(dismissed_at=None)
    finding = found.select_related("stage").first()
    summary = escape(finding.body["judgement"]["finding"]["summary"])
    base, name = site.link("run", frozenset()), finding.stage.name
    asked = f"{base}runs/{site.first.id}/figures/evidence?stage={name}&scope={finding.scope}"
    assert summary in open_page(base).content.decode()
    assert Client().get(f"{asked}&rule={finding.rule}").json()["data"]

    found.filter(id=finding.id).update(rule="reads-are-small")

    page = open_page(base).content.decode()
    assert NOT_SHARED in page
    assert summary not in page
    assert Client().get(f"{asked}&rule=reads-are-small").json()["data"] == []


def where(mark, texts):
    return [address for address, text in texts.items() if mark in text]


def test_the_page_says_that_it_is_shared_and_offers_nothing_else(quick):
    base, _ = quick
    response = open_page(base)
    page = response.content.decode()

    assert "Shared, view only" in page
    assert "&lt;i&gt;quick&lt;/i&gt;" in page
    assert "vision" in page
    for absent in ("csrf", "Sign out", "Tokens", "Move to trash", "Log to this run"):
        assert absent not in page
    assert not response.cookies
    assert not [
        a for a in addresses_in(page) if not a.startswith((base, "/static/", "#"))
    ]


def test_when_it_expires_is_said(quick):
    base, _ = quick
    assert "expires" not in open_page(base).content.decode()

    ShareLink.objects.update(expires_at=timezone.now() + timedelta(days=3))

    assert "expires" in open_page(base).content.decode()


@pytest.mark.parametrize(
    "path", ["", "runs/{0}/", "runs/{0}/figures/stages", "nowhere"]
)
def test_every_answer_keeps_the_address_to_itself(quick, path):
    base, run = quick
    response = Client().get(base + path.format(run.id))

    assert "noindex" in response["X-Robots-Tag"]
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response["Permissions-Policy"]
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert not [name for name in response.headers if name.startswith("Access-Control")]
    cached = set(response["Cache-Control"].split(", "))
    assert "no-store" in cached or {"private", "no-cache"} <= cached
    if response.status_code == 200 and "html" in response["Content-Type"]:
        assert '<meta name="robots" content="noindex">' in response.content.decode()


def spoil_expired():
    ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def spoil_revoked():
    ShareLink.objects.update(ended_at=timezone.now())


def spoil_trashed():
    from tracker.models import Run

    move_to_trash(Run.objects.get())


def spoil_left():
    from tracker.models import Member

    Member.objects.all().delete()


@pytest.mark.parametrize(
    "spoil", [spoil_expired, spoil_revoked, spoil_trashed, spoil_left]
)
@pytest.mark.parametrize(
    "path", ["", "runs/{0}/", "runs/{0}/figures/stages", "api/v1/me"]
)
def test_whatever_is_wrong_with_a_link_the_answer_is_the_same(quick, spoil, path):
    base, run = quick
    path = path.format(run.id)
    assert Client().get(base, follow=True).status_code == 200
    spoil()

    spoiled = Client().get(base + path)
    unknown = Client().get(f"/s/sml_{'x' * 43}/{path}")

    assert spoiled.status_code == unknown.status_code == 404
    assert spoiled.content == unknown.content
    assert spoiled.headers == unknown.headers


def test_all_that_is_wrong_is_asked_in_one_statement(quick, django_assert_num_queries):
    base, _ = quick
    for spoil in (spoil_expired, spoil_revoked, spoil_left):
        spoil()
        with django_assert_num_queries(1):
            assert Client().get(base).status_code == 404
    with django_assert_num_queries(1):
        assert Client().get("/s/unknown/").status_code == 404


def test_a_script_is_told_in_json(quick):
    response = Client().get("/s/unknown/runs/x", headers={"accept": "application/json"})

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


def test_members_are_led_to_the_page_itself(quick, member, stranger, client_of):
    base, run = quick
    viewer = make_member("vera", Role.VIEWER, workspace=member.workspace)

    inside = open_page(f"{base}runs/{run.id}/charts?search=a", client_of(viewer))
    outside = open_page(base, client_of(stranger))

    assert f'href="/runs/{run.id}/charts?search=a"' in inside.content.decode()
    assert "Open as member" not in outside.content.decode()


def test_members_see_no_more_by_a_link_than_strangers(site, member, client_of):
    base = site.link("run")
    path = f"{base}runs/{site.first.id}/"

    page = client_of(member).get(path).content.decode()

    assert "chosen-optimizer" not in page
    assert "Move to trash" not in page
    assert client_of(member).get(f"{base}runs/{site.sibling.id}/").status_code == 404


@pytest.mark.parametrize("path", ["/evil.test/", "/\\evil.test", "%2F%2Fevil.test"])
def test_no_link_leads_members_to_another_host(quick, member, client_of, path):
    base, _ = quick
    page = client_of(member).get(f"{base}{path}").content.decode()

    assert [a for a in addresses_in(page) if a.startswith(("//", "/\\"))] == []


def test_openings_are_noted_of_pages_only(quick):
    base, run = quick

    Client().get(f"{base}runs/{run.id}/figures/stages")
    Client().head(f"{base}runs/{run.id}/")
    Client().get(f"{base}runs/{run.id}/", headers={"hx-request": "true"})
    assert ShareLink.objects.get().open_count == 0
    open_page(base)

    link = ShareLink.objects.get()
    assert link.open_count == 1
    assert link.last_opened_at is not None


def test_addresses_made_afterwards_lie_where_they_did(quick):
    base, run = quick

    Client().get(f"{base}runs/{run.id}/")
    Client().get(f"{base}nowhere")

    assert get_script_prefix() == "/"


def test_the_secret_is_no_token_of_the_api(quick, api):
    base, run = quick
    secret = base.split("/")[2]

    for path in ("/api/v1/me", f"/api/v1/runs/{run.id}", "/api/v1/projects"):
        assert api(secret).get(path).status_code == 401
    assert api(secret).post(f"/api/v1/runs/{run.id}/trash").status_code == 401
    for name in ("token", "access_token", "secret"):
        assert Client().get("/api/v1/me", {name: secret}).status_code == 401
    assert Client().get(f"/sign-in/{secret}").status_code == 200
    assert Client().post(f"/sign-in/{secret}")["Location"] == "/sign-in?spent"


def test_a_token_adds_nothing_to_a_link(site, member, api):
    from tracker.actions.access import make_token
    from tracker.actor import Scope

    client = api(make_token(member, "full", Scope.MANAGE))
    base = site.link("run", frozenset({Part.LOGS}))
    path = "monitoring/train/stdout"

    own = client.get(f"{base}api/v1/runs/{site.first.id}/records", {"path": path})
    other = client.get(f"{base}api/v1/runs/{site.sibling.id}/records", {"path": path})

    assert (own.status_code, other.status_code) == (200, 404)


def test_pictures_are_not_among_the_records_of_logs(site):
    base = site.link("run", frozenset({Part.LOGS}))

    response = Client().get(
        f"{base}api/v1/runs/{site.first.id}/records",
        {"path": "pictures/frames"},
    )

    assert response.status_code == 404


def test_a_text_is_no_quality_of_a_ladder_to_strangers(member):
    project = make_project(member)
    runs = [make_run(project, name, "finished") for name in ("first", "second")]
    write_values(runs[0], {"verdict": 0.5})
    write_values(runs[1], {"verdict": "text-of-theirs"})
    ladder = create_ladder(
        project, "faster", [RungRequest(str(run.id)) for run in runs]
    )

    def read(*parts):
        link_request = LinkRequest("ladder", str(ladder.id), frozenset(parts))
        base = f"/s/{make_link(project, browser_of(member), link_request)}/"
        address = f"{base}ladders/{ladder.id}/?quality=verdict"
        return open_page(address).content.decode()

    assert "text-of-theirs" in read(Part.CONFIG)
    hidden = read()
    assert "text-of-theirs" not in hidden
    assert "0.5" in hidden


def test_the_log_of_the_server_holds_no_secret(quick, caplog):
    from tracker.redaction import Formatter

    base, _ = quick
    spoil_revoked()
    Client().get(base)

    assert caplog.records
    shown = "\n".join(Formatter("%(message)s").format(each) for each in caplog.records)
    assert "/s/sml_…" in shown
    assert base.split("/")[2] not in shown
