"""Whatever is logged, pages show it: nothing is run, opened, fetched or shared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.builders import (
    Process,
    make_project,
    make_run,
    records_message,
    set_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.api.v1.test_files import file_message
from tests.web.every_page import ALIKE, Things, addresses, pages
from tests.web.payloads import PAYLOADS, SHARED_KEYS, packed
from tracker.actions.access import make_token
from tracker.actions.files import receive
from tracker.actions.ladders import WantedRung, create_ladder
from tracker.actions.trash import move_to_trash
from tracker.actor import Scope
from tracker.models import Alert, Run, Spool, State

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]

ALL = " ".join(PAYLOADS)
RUN_PAGES = ("", "charts", "hardware", "attributes", "logs", "files", "source")
UNTOUCHED = """() => {
  const shared = {}
  return [
    window.hacked && "a script ran",
    document.querySelector("main script:not([type='application/json']), main iframe, main base, main meta, main object, main embed, main style") && "an element came in",
    [...document.querySelectorAll("main a[href], main [action], main use, main image")].some((each) => {
      const { protocol, host } = new URL(each.getAttribute("href") ?? each.getAttribute("action"), location)
      return host !== location.host || !/^https?:$/.test(protocol)
    }) && "a link leads astray",
    document.querySelector("main [onerror], main [onload], main [onfocus], main [onclick], main [hx-on\\\\:load]") && "a handler came in",
    (Object.keys(Object.prototype).length || shared.polluted !== undefined) && "all objects have changed",
  ].filter(Boolean)
}"""


@pytest.fixture
def hostile(ada, settings, tmp_path):
    """A project in which every text that somebody may choose is a payload."""
    settings.DATA_FOLDER = tmp_path
    ada.workspace.name = packed(PAYLOADS, 200)[0]
    ada.workspace.save()
    project = make_project(ada)
    project.name = packed(PAYLOADS, 200)[1]
    project.save()
    for name in packed(PAYLOADS, 200):
        make_token(ada, name, Scope.READ)

    runs = [_hostile_run(project, name) for name in packed(PAYLOADS, 255)]
    move_to_trash(make_run(project, f"trashed {PAYLOADS[0]}", State.FINISHED))
    rungs = [
        WantedRung(str(run.id), note) for run, note in zip(runs, PAYLOADS, strict=False)
    ]
    return project, runs, create_ladder(project, "rungs", rungs)


def _hostile_run(project, name: str) -> Run:
    process = Process(project, name, stage=name[:100])
    process.opening = {**process.opening, "host": name}
    process.open()
    stage = process.opening["stage"]
    prefix = f"monitoring/{stage}/facts"
    process.send(
        [
            set_message(f"{prefix}/gpu/0/name", name),
            set_message(f"{prefix}/framework", name),
            set_message("source/git/remote", name),
            set_message("source/git/message", name),
            set_message("source/git/branch", name),
            set_message("source/script", name),
            set_message("params/note", name),
        ]
    )
    process.send([{"t": "close", "state": "failed", "failure": name, "time": 0}])
    run = process.run
    Run.objects.filter(id=run.id).update(started_at=timezone.now())
    Spool.objects.filter(run=run).update(failure=name)
    Alert.objects.create(
        project=project,
        run=run,
        stage=name[:200],
        subject=name,
        severity="critical",
        title=name,
        summary=name,
        raised_at=timezone.now(),
    )
    return run


@pytest.fixture
def told_everything(hostile):
    """One run that holds all payloads in whatever is not a name."""
    run = hostile[1][0]
    write_values(run, {f"params/{key}": "polluted" for key in SHARED_KEYS})
    write_values(run, {f"{key}/polluted": "polluted" for key in SHARED_KEYS})
    write_values(run, {f"notes/{text}"[:1000]: text for text in PAYLOADS})
    for text in PAYLOADS[:8] + SHARED_KEYS:
        write_series(run, text, [2.0, 1.0])
    write_tags(run, *PAYLOADS)
    write(run, [records_message("logs/stdout", PAYLOADS)])
    write(run, [records_message("samples/text", PAYLOADS)])
    for place, text in enumerate(packed(PAYLOADS, 200)):
        _add_file(run, f"{text}/{place}", text.encode(), text[:100])
    return run


def _add_file(run: Run, path: str, content: bytes, name: str) -> None:
    message = file_message(path, content, name=name, kind="text/plain")
    write(run, [message])
    workspace = run.project.workspace_id
    receive(workspace, message["digest"], size=len(content), offset=0, pieces=[content])


def test_no_text_that_is_logged_does_anything_on_any_page(
    visit, ada, hostile, told_everything, client_of
):
    project, runs, _ = hostile
    visited = set()
    for name in packed(PAYLOADS, 200):
        things = Things(ada, project, told_everything, tuple(runs[:3]), name)
        found = addresses(things.known())
        visited |= {found[page] for page in ("dashboard", "report", "ladder")}
    # By now their lists hold all of them.
    things = replace(things, name="overview")
    for name, address in pages(things, client_of(ada)).items():
        if name not in ALIKE or name == "tokens":
            visited.add(address)
    # Of the others, the pages that show more of a run than its name.
    for run in runs[1:]:
        visited |= {f"/runs/{run.id}/", f"/runs/{run.id}/source"}
    page = visit("/", ada)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))

    found = {}
    for address in sorted(visited):
        page = visit(address, ada)
        if objections := page.evaluate(UNTOUCHED):
            found[address] = objections

    assert found == {}


def test_what_is_pointed_at_and_searched_for_does_nothing_either(
    visit, ada, hostile, told_everything
):
    page = visit("/", ada)
    page.keyboard.press("Control+k")
    page.keyboard.type("<script>")
    expect(page.get_by_role("option").first).to_be_visible()
    assert page.evaluate(UNTOUCHED) == []
    page.keyboard.press("Escape")

    page = visit(f"/runs/{told_everything.id}/charts", ada)
    chart = page.locator(".chart[data-drawn='true'] .nsewdrag").first
    chart.hover(force=True)
    assert page.evaluate(UNTOUCHED) == []


def test_charts_show_names_letter_for_letter_and_link_nowhere(visit, ada):
    names = [
        "<a href='https://evil.test'>loss</a>",
        "%{y} <b>x</b>",
        "<i>%{customdata}</i>",
    ]
    runs = [make_run(make_project(ada), names[0])]
    runs.append(make_run(runs[0].project, names[1]))
    for run in runs:
        for name in names:
            write_series(run, name, [3.0, 2.0, 1.0])

    for address in (
        f"/runs/{runs[0].id}/charts",
        f"/w/ada-workspace/vision/compare?runs={runs[0].id},{runs[1].id}",
    ):
        page = visit(address, ada)
        expect(page.locator(".chart[data-drawn='true']")).to_have_count(
            3, timeout=20_000
        )
        for plot in page.locator(".nsewdrag").all():
            plot.hover(force=True)
        drawn = page.evaluate(
            "() => [...document.querySelectorAll('svg.main-svg')].map((svg) => svg.textContent).join(' ')"
        )

        assert page.locator("svg.main-svg a").count() == 0
        assert "https://evil.test" in drawn + page.locator("main").inner_text()


def test_names_that_every_object_has_change_none(visit, ada, hostile, told_everything):
    project, runs, _ = hostile
    ids = ",".join(str(run.id) for run in runs[:2])
    for address in (
        f"/w/{project.workspace.slug}/{project.slug}/",
        f"/w/{project.workspace.slug}/{project.slug}/compare?runs={ids}&tab=table",
        f"/runs/{told_everything.id}/attributes",
        f"/runs/{told_everything.id}/charts",
    ):
        page = visit(address, ada)
        page.wait_for_timeout(300)
        assert page.evaluate(UNTOUCHED) == []
