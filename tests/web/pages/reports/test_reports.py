"""Report endpoints: reading, writing, versions."""

from __future__ import annotations

import html
import re

import pytest
from django.urls import reverse

from tests.builders import make_member, make_run, write_series
from tracker.actions.reports import create_report, save_draft, save_version
from tracker.models import Report, ReportDraft, ReportVersion, Role
from web.pages.reports.blocks import key_of

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
CHART = "widget: chart\nmetrics: train/loss\nfirst: 5\n"
KEY = key_of(CHART)
TEXT = f"# What helped\n\nDecoding **ahead**.\n\n```seamark\n{CHART}```\n"


@pytest.fixture
def run(project):
    made = make_run(project, "baseline", "finished")
    write_series(made, "train/loss", [1.0, 0.5])
    return made


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def grace(member):
    return make_member("grace", Role.MEMBER, workspace=member.workspace)


@pytest.fixture
def viewer(client_of, member):
    return client_of(make_member("vera", Role.VIEWER, workspace=member.workspace))


@pytest.fixture
def listed(project):
    return reverse("reports", args=[project.workspace.slug, project.slug])


@pytest.fixture
def report(project, member, run):
    made = create_report(project, "What helped", user_id=member.user_id)
    save_version(made, "What helped", TEXT, user_id=member.user_id, based_on=0)
    return made


def get(visitor, name, *arguments, **query) -> str:
    return visitor.get(reverse(name, args=arguments), query).content.decode()


def typed(text, *, based_on=1, name="What helped") -> dict[str, object]:
    return {"name": name, "text": text, "based_on": based_on}


def test_an_empty_list_says_what_a_report_is(visitor, viewer, listed):
    assert "New report" in visitor.get(listed).content.decode()
    assert "New report" not in viewer.get(listed).content.decode()


def test_a_new_report_leads_to_the_editor(visitor, listed):
    response = visitor.post(listed, {"name": "Findings"})

    made = Report.objects.get()
    assert response["Location"] == reverse("report-edit", args=[made.id])
    assert "your draft" in visitor.get(listed).content.decode()
    assert "No version has been saved yet" in get(visitor, "report", made.id)


def test_a_report_needs_a_name(visitor, listed):
    response = visitor.post(listed, {"name": " "})

    assert response.status_code == 400
    assert "name must be text" in response.content.decode()


def test_shows_the_text_who_wrote_it_and_frames_for_widgets(visitor, report):
    shown = get(visitor, "report", report.id)

    assert "<strong>ahead</strong>" in shown
    assert "ada" in shown
    assert "version 1" in shown
    assert reverse("report-widget-body", args=[report.id, KEY]) in shown


def test_widgets_in_it_show_what_runs_have(visitor, report):
    assert "baseline" in get(visitor, "report-widget-body", report.id, KEY)
    address = reverse("report-widget-figure", args=[report.id, KEY])
    assert [trace["name"] for trace in visitor.get(address).json()["data"]] == [
        "baseline"
    ]


def test_a_widget_that_the_text_has_not_is_nowhere(visitor, report):
    for part in ("body", "figure"):
        address = reverse(f"report-widget-{part}", args=[report.id, "00000000"])
        assert visitor.get(address).status_code == 404


def test_a_block_that_cannot_be_read_says_why_in_its_place(visitor, report, member):
    text = "```seamark\nwidget: film\n```\n\nafter"
    save_version(report, "x", text, user_id=member.user_id, based_on=1)

    shown = get(visitor, "report", report.id)
    assert "Invalid widget" in shown
    assert "<p>after</p>" in shown


def test_a_text_of_very_many_widgets_is_cut(visitor, report, member):
    blocks = "".join(
        f"```seamark\nwidget: ledger\nfirst: {number}\n```\n" for number in range(1, 51)
    )
    save_version(report, "x", blocks, user_id=member.user_id, based_on=1)

    shown = get(visitor, "report", report.id)
    assert shown.count('hx-trigger="intersect once"') == 40
    assert shown.count("at most 40 widgets") == 10


def test_a_draft_is_kept_and_shown_as_it_will_look(visitor, report):
    text = TEXT.replace("first: 5", "first: 7")
    key = key_of(CHART.replace("first: 5", "first: 7"))

    response = visitor.post(
        reverse("report-draft", args=[report.id]), typed(text), headers=HTMX
    )

    shown = response.content.decode()
    assert "Draft saved" in shown
    assert f"/widgets/{key}/body?draft=1" in shown
    assert "baseline" in get(visitor, "report-widget-body", report.id, key, draft="1")
    assert ReportDraft.objects.get().text == text
    assert Report.objects.get().text == TEXT
    assert "first: 7" in get(visitor, "report-edit", report.id)


def test_nobody_sees_another_ones_draft(visitor, client_of, grace, report):
    save_draft(report, "x", "secret", user_id=grace.user_id, based_on=1)

    assert "secret" not in get(visitor, "report-edit", report.id)
    address = reverse("report", args=[report.id])
    assert visitor.get(address, {"draft": "1"}).status_code == 404
    assert "secret" in get(client_of(grace), "report", report.id, draft="1")


def test_opening_the_editor_makes_no_draft(visitor, report):
    response = visitor.post(
        reverse("report-draft", args=[report.id]), typed(TEXT), headers=HTMX
    )

    assert "No changes since version 1" in response.content.decode()
    assert not ReportDraft.objects.exists()


def test_saving_makes_a_version_for_everybody(visitor, report):
    address = reverse("report-edit", args=[report.id])

    response = visitor.post(address, typed("# New\r\n\r\ntext"))

    assert response["Location"] == reverse("report", args=[report.id])
    assert Report.objects.get().text == "# New\n\ntext"
    assert [each.number for each in ReportVersion.objects.order_by("number")] == [1, 2]


def test_who_comes_second_is_told_and_keeps_what_they_wrote(visitor, report, grace):
    save_version(report, "Hers", "hers", user_id=grace.user_id, based_on=1)

    response = visitor.post(reverse("report-edit", args=[report.id]), typed("mine"))

    shown = response.content.decode()
    assert response.status_code == 409
    assert "grace changed this report" in shown
    assert ">mine</textarea>" in shown
    assert 'name="over" value="2"' in shown
    assert Report.objects.get().text == "hers"

    visitor.post(
        reverse("report-edit", args=[report.id]), {**typed("mine"), "over": "2"}
    )
    assert Report.objects.get().text == "mine"


@pytest.mark.parametrize(
    "fields",
    [
        typed("a\0"),
        typed("x" * 100_001),
        typed("x", name=" "),
        typed("x", based_on="y"),
    ],
)
def test_what_cannot_be_saved_is_refused(visitor, report, fields):
    response = visitor.post(reverse("report-edit", args=[report.id]), fields)

    assert response.status_code == 400
    assert Report.objects.get().version == 1


def test_versions_are_listed_read_and_restored(visitor, report, grace):
    save_version(report, "Later", "later", user_id=grace.user_id, based_on=1)

    shown = get(visitor, "report-versions", report.id)
    assert shown.index("grace") < shown.index("ada</bdi>")
    old = get(visitor, "report", report.id, version="1")
    assert "You are viewing version 1. The latest is version 2" in old
    assert f"/widgets/{KEY}/body?version=1" in old
    assert "baseline" in get(visitor, "report-widget-body", report.id, KEY, version="1")

    visitor.post(reverse("report-restore", args=[report.id, 1]))
    assert Report.objects.get().text == TEXT
    assert "restored from version 1" in get(visitor, "report-versions", report.id)


@pytest.mark.parametrize(("version", "status"), [("9", 404), ("x", 400), ("²", 400)])
def test_a_version_that_never_was(visitor, report, version, status):
    address = reverse("report", args=[report.id])

    assert visitor.get(address, {"version": version}).status_code == status


def test_a_draft_can_be_thrown_away(visitor, report, member):
    save_draft(report, "x", "half", user_id=member.user_id, based_on=1)

    visitor.post(reverse("report-discard", args=[report.id]))

    assert not ReportDraft.objects.exists()


def block_from(response) -> tuple[str, str]:
    found = re.search(
        r'data-old="(.*?)" data-new="(.*?)"', response.content.decode(), re.S
    )
    return html.unescape(found[1]), html.unescape(found[2])


def test_a_dialog_writes_the_lines_of_a_widget(visitor, report):
    address = reverse("report-widget", args=[report.id])
    assert "Insert" in visitor.get(address, {"kind": "value"}).content.decode()

    response = visitor.post(
        f"{address}?kind=value",
        {"set-metric": "train/loss", "set-over": "lowest", "first": "3"},
        headers=HTMX,
    )

    assert block_from(response) == (
        "",
        "widget: value\nmetric: train/loss\nsummary: last\nover: lowest\n"
        "include: all\nfirst: 3\n",
    )


def test_a_widget_of_the_text_is_opened_and_changed(visitor, report):
    address = f"{reverse('report-widget', args=[report.id])}?block={KEY}"
    assert 'value="train/loss"' in visitor.get(address).content.decode()

    response = visitor.post(
        address, {"set-metrics": "val/loss", "first": "5"}, headers=HTMX
    )

    old, new = block_from(response)
    assert old == CHART
    assert "metrics: val/loss\n" in new


def test_a_refused_widget_says_why(visitor, report):
    address = reverse("report-widget", args=[report.id])

    response = visitor.post(f"{address}?kind=chart", {}, headers=HTMX)

    assert response.status_code == 400
    assert "Metrics must not be empty" in response.content.decode()
    assert response["HX-Retarget"] == "#dialog-refusal"


@pytest.mark.parametrize("query", [{"kind": "text"}, {"kind": "x"}, {"block": "0"}])
def test_there_is_no_such_widget_to_write(visitor, report, query):
    address = reverse("report-widget", args=[report.id])

    assert visitor.get(address, query).status_code == 404


def test_a_report_is_deleted(visitor, report, listed):
    response = visitor.post(reverse("report-delete", args=[report.id]))

    assert response["Location"] == listed
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x>', "</textarea><b>", "{{7*7}}"]
)
def test_strange_texts_are_shown_as_they_are(visitor, report, member, listed, name):
    text = f"{name}\n\n```seamark\nwidget: chart\ntitle: {name}\nmetrics: {name}\n```\n"
    save_version(report, name, text, user_id=member.user_id, based_on=1)

    pages = [
        visitor.get(listed).content.decode(),
        *(
            get(visitor, each, report.id)
            for each in ("report", "report-edit", "report-versions")
        ),
    ]
    for shown in pages:
        assert "<script>alert" not in shown
        assert "<img" not in shown
        assert "<b>" not in shown
        assert ">49<" not in shown


CHANGES = [
    ("report-edit", []),
    ("report-draft", []),
    ("report-discard", []),
    ("report-widget", []),
    ("report-restore", [1]),
    ("report-delete", []),
]


def test_a_viewer_may_read_but_not_write(viewer, report, listed):
    assert "report-edit" not in get(viewer, "report", report.id)
    assert reverse("report-edit", args=[report.id]) not in get(
        viewer, "report", report.id
    )
    for name, arguments in CHANGES:
        address = reverse(name, args=[report.id, *arguments])
        assert viewer.post(address, typed("x")).status_code == 403, name
    assert viewer.post(listed, {"name": "x"}).status_code == 403
    assert Report.objects.get().version == 1


def test_for_a_stranger_there_is_no_such_report(client_of, stranger, report, listed):
    visitor = client_of(stranger)

    for name, arguments in [
        ("report", []),
        ("report-versions", []),
        ("report-edit", []),
        ("report-widget", []),
        ("report-widget-body", [KEY]),
        ("report-widget-figure", [KEY]),
    ]:
        address = reverse(name, args=[report.id, *arguments])
        assert visitor.get(address).status_code == 404, name
    for name, arguments in CHANGES:
        address = reverse(name, args=[report.id, *arguments])
        assert visitor.post(address, typed("x")).status_code == 404, name
    assert visitor.get(listed).status_code == 404
