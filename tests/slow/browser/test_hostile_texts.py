"""Pages show hostile texts as text: without running, opening or fetching anything."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import cycle
from urllib.parse import quote

import pytest
from django.utils import timezone
from playwright.sync_api import Dialog, expect

from tests.builders import (
    Process,
    browser_of,
    make_project,
    make_run,
    points_message,
    records_message,
    set_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.slow.browser.stored_texts import contents_holding, fields_holding
from tests.tracker.api.v1.test_files import file_message
from tests.web.every_page import ALIKE, FILE, Things, addresses, pages, share
from tests.web.pages.run_files.test_source import CAPTURED
from tests.web.payloads import PAYLOADS, SHARED_KEYS, packed
from tests.web.sample_run import make_sample_run
from tracker.actions.access import make_token
from tracker.actions.dashboards import create_dashboard
from tracker.actions.diagnoses.findings import dismiss
from tracker.actions.files import receive
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.reports import create_report, save_version
from tracker.actions.runs.descriptions import describe
from tracker.actions.runs.trash import move_to_trash
from tracker.actor import Scope
from tracker.boards.board import Board, Place, Widget
from tracker.models import (
    Alert,
    Channel,
    ChannelKind,
    File,
    Finding,
    Ladder,
    Member,
    Project,
    Run,
    Spool,
    State,
    User,
    Workspace,
)
from web.pages.run_files.source_cards import MACHINE

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1200),
]

# A payload that hides a later one cannot hide an earlier one.
ORDERS = {"in order": PAYLOADS, "reversed": PAYLOADS[::-1]}
COMMON_STAGE = PAYLOADS[0]
# Maximum length of each kind of name.
RUN, PROJECT, USER, STAGE, AGENT = 255, 200, 150, 100, 50
# Maximum length of each kind of user text.
REASON, ADDRESS, KIND = 500, 500, 100
# Fields that must contain payloads; further ones are counted too.
HOSTILE = {
    *("Run.name", "Stage.name", "Project.name", "Workspace.name", "User.username"),
    *("Token.name", "ShareLink.label", "Ladder.name", "Rung.note"),
    *("Dashboard.name", "Dashboard.content", "SavedView.name"),
    *("Report.name", "Report.text", "ReportComment.text", "Annotation.text"),
    *("Alert.title", "Alert.summary", "Channel.address", "Channel.last_error"),
    *("Spool.host", "Spool.failure", "Spool.agent_version"),
    *("Finding.dismissed_reason", "File.media_type"),
    *("Attribute.path", "File.path", "File.name", "tags", "description"),
    *("params/note", "notes/…", "git/message", "git/remote", "git/branch", "git/diff"),
    *("source/text", "source/script", "source/arguments", "packages/list"),
    *("environment/…", "facts/host", "facts/gpu/0/name", "facts/cpu_model"),
    *("lines of a log", "content of a file"),
}
# Message, script, diff, untracked files, arguments, packages with their versions.
MIN_PLACES = 6
UNTOUCHED = """() => {
  const shared = {}
  const leads = ["href", "xlink:href", "action", "formaction", "hx-get", "hx-post", "data-figure-url"]
  const isOurs = (address) => {
    const { protocol, host } = new URL(address, location)
    return host === location.host && /^https?:$/.test(protocol)
  }
  // Charts hold pictures of their own, which lead nowhere; what they fetch, the watch hears.
  const all = [...document.querySelectorAll("*:not(svg.main-svg image)")]
  return [
    window.hacked && "a script ran",
    [...document.scripts].some(({ type, src }) => type !== "application/json" && !(src && isOurs(src))) && "a script came in",
    document.querySelector("iframe, base, object, embed, body style, body meta, body link") && "an element came in",
    all.some((each) => leads.some((lead) => each.hasAttribute(lead) && !isOurs(each.getAttribute(lead)))) && "a link leads astray",
    all.some((each) => each.getAttributeNames().some((name) => /^(on|hx-on)/.test(name))) && "a handler came in",
    (Object.keys(Object.prototype).length || shared.polluted !== undefined) && "all objects have changed",
  ].filter(Boolean)
}"""


@pytest.fixture
def texts(request) -> list[str]:
    return getattr(request, "param", PAYLOADS)


@pytest.fixture
def hostile(ada, settings, tmp_path, texts):
    """A project in which each text chosen by a user is a payload."""
    settings.DATA_FOLDER = tmp_path
    project = make_project(ada)
    rename(project, ada, packed(texts, USER)[0])
    for name in packed(texts, PROJECT):
        make_token(ada, name, Scope.READ)

    runs = [_hostile_run(project, name, texts) for name in packed(texts, RUN)]
    move_to_trash(make_run(project, f"trashed {texts[0]}", State.FINISHED))
    rungs = [
        RungRequest(str(run.id), note) for run, note in zip(runs, texts, strict=False)
    ]
    create_ladder(project, "rungs", rungs)
    add_failing_channels(project, texts)
    return project, runs, texts


def add_failing_channels(project: Project, texts: list[str]) -> None:
    """Have alerts sent where no rule of today would let them, and receivers that object."""
    Channel.objects.bulk_create(
        [
            Channel(
                project=project,
                kind=kind,
                address=text,
                severity="warning",
                last_error="\n".join(texts),
            )
            for kind, text in zip(
                cycle(ChannelKind.values), packed(texts, ADDRESS), strict=False
            )
        ]
    )


def add_dismissals(project: Project, member: Member, texts: list[str]) -> Run:
    """Return a run whose findings are dismissed with payloads as reasons."""
    run = make_sample_run(project, "dismissed")
    found = Finding.objects.filter(run=run, is_open=True, explained_by="")[0]
    for place, reason in enumerate(packed(texts, REASON)):
        found.pk = None
        found.scope = f"gpu/{place}"
        found.save()
        dismiss(run, found.pk, browser_of(member), reason)
    return run


def rename(project: Project, member: Member, name: str) -> None:
    """Give project, workspace and user of a page one name."""
    Project.objects.filter(id=project.id).update(name=name)
    Workspace.objects.filter(id=project.workspace_id).update(name=name)
    User.objects.filter(id=member.user_id).update(username=name)


def _hostile_run(project: Project, name: str, texts: list[str]) -> Run:
    # The second has other runs' stage of that name to be compared with.
    for stage in (name[:STAGE], COMMON_STAGE):
        process = Process(project, name, stage=stage)
        process.opening = {**process.opening, "host": name, "agent": name[:AGENT]}
        process.open()
        captured = _captured(name, texts)
        receipt = process.send(
            [
                *(
                    set_message(f"monitoring/{stage}/{path}", value)
                    for path, value in captured.items()
                ),
                points_message(f"monitoring/{stage}/gpu/0/utilization_percent", [1, 2]),
                points_message(f"monitoring/{stage}/job/cpu_cores", [1.0, 2.0]),
                set_message("params/note", name),
            ]
        )
        assert not receipt.refused, receipt.refused
        process.send([{"t": "close", "state": "failed", "failure": name, "time": 0}])
    run = process.run
    describe(run, "\n\n".join([name, *texts]))
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


def _captured(name: str, texts: list[str]) -> dict[str, object]:
    """Return captured facts with payloads in place of all texts."""
    lines = "\n".join([name, *texts])
    options = [f"--{place}={text}" for place, text in enumerate(texts)]
    whole = {
        path: name if isinstance(value, str) else value
        for path, value in CAPTURED.items()
    }
    return whole | {
        "git/message": f"{name}\n\n{lines}",
        "git/untracked": texts,
        "git/untracked_count": len(texts),
        "git/diff": _diff(name, texts),
        "source/text": lines,
        "source/arguments": shlex.join(["python", f"{name}.py", *options, *texts]),
        "packages/list": "\n".join(f"{text}=={text}" for text in (name, *texts)),
        f"packages/loaded/{name}": name,
        f"environment/{name}": name,
        f"signals/{name}": CAPTURED["signals/SIGTERM"],
        **{f"facts/{fact}": name for fact, _ in MACHINE},
        "facts/framework": name,
        "facts/gpu_count": 2,
        "facts/gpu/0/name": name,
        "facts/gpu/1/name": name[::-1],
    }


def _diff(name: str, texts: list[str]) -> str:
    added = "".join(f"+{text}\n" for text in texts)
    return (
        f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n"
        f"@@ -1 +1,{len(texts)} @@ {name}\n-{name}\n{added}"
    )


@pytest.fixture
def told_everything(hostile):
    """Create a run with all payloads in all fields except names, and in its stages."""
    _, (run, *_), texts = hostile
    for stage in packed(texts, STAGE):
        write(run, [], stage=stage)
    write_values(run, {f"params/{key}": "polluted" for key in SHARED_KEYS})
    write_values(run, {f"{key}/polluted": "polluted" for key in SHARED_KEYS})
    write_values(run, {f"notes/{text}"[:1000]: text for text in texts})
    for text in texts[:8] + SHARED_KEYS:
        write_series(run, text, [2.0, 1.0])
    write_tags(run, *texts)
    write(run, [records_message("logs/stdout", texts)])
    write(run, [records_message("samples/text", texts)])
    for place, text in enumerate(packed(texts, PROJECT)):
        _add_file(run, f"{text}/{place}", text.encode(), text[:100])
    # The file whose page is visited.
    name, *_ = packed(texts, PROJECT)
    _add_file(run, FILE, "\n".join(texts).encode(), name[:100])
    # The API validates types of files; pages must not rely on it.
    for file, kind in zip(
        File.objects.filter(run=run), cycle(packed(texts, KIND)), strict=False
    ):
        File.objects.filter(id=file.id).update(media_type=kind)
    return run


def make_boards(project: Project, member: Member, texts: list[str]) -> list[str]:
    """Make a dashboard and a report of payloads; return where both and their links are."""
    # As Markdown, and letter for letter.
    said = "\n\n".join([*texts, *(f"    {text}" for text in texts)])
    named = [f"notes/{text}"[:1000] for text in texts]
    kinds: dict[str, dict[str, str | list[str]]] = {
        "text": {"text": said},
        "table": {"columns": ["params/note", "tags", "description", *named[:8]]},
        "value": {"metric": texts[0]},
        "chart": {"metrics": texts[:8]},
        "ladder": {"ladder": str(Ladder.objects.filter(project=project)[0].id)},
        "ledger": {},
    }
    widgets = tuple(
        Widget(
            id=f"{row:08x}",
            kind=kind,
            title=packed(texts, PROJECT)[row],
            place=Place(0, 4 * row, 12, 4),
            settings=settings,
        )
        for row, (kind, settings) in enumerate(kinds.items())
    )
    by = member.user_id
    # No other has it: those of the routes are called as payloads are packed.
    name = f"of every kind {texts[0]}"
    dashboard = create_dashboard(project, name, Board(widgets=widgets), user_id=by)
    report = create_report(project, name, user_id=by)
    save_version(report, name, f"{said}\n\n{_fences(kinds)}", user_id=by, based_on=0)
    found = []
    for kind, thing in {"dashboard": dashboard, "report": report}.items():
        link = f"/s/{share(project, member, kind, str(thing.id))}"
        found += [page := f"/{kind}s/{thing.id}/", f"{link}{page}"]
    return found


def _fences(kinds: dict[str, dict[str, str | list[str]]]) -> str:
    """Return widgets as blocks of a report, without the text widget."""
    blocks = []
    for kind, settings in kinds.items():
        lines = [f"widget: {kind}"]
        for name, value in settings.items():
            each = value if isinstance(value, list) else [value]
            lines += [f"{name}: {text}" for text in each]
        blocks.append("\n".join(["```seamark", *lines, "```"]))
    return "\n\n".join(blocks[1:])


def _add_file(run: Run, path: str, content: bytes, name: str) -> None:
    message = file_message(path, content, name=name, kind="text/plain")
    write(run, [message])
    workspace = run.project.workspace_id
    receive(workspace, message["digest"], size=len(content), offset=0, pieces=[content])


@pytest.mark.parametrize("texts", ORDERS.values(), ids=ORDERS, indirect=True)
def test_no_text_that_is_logged_does_anything_on_any_page(
    visit, ada, hostile, told_everything, *, client_of, watch
):
    project, runs, texts = hostile
    dismissed = add_dismissals(project, ada, texts)
    boards = make_boards(project, ada, texts)
    visited = {*boards, f"/runs/{dismissed.id}/"}
    for name in packed(texts, PROJECT):
        things = Things(ada, project, told_everything, tuple(runs[:3]), name)
        found = addresses(things.known())
        visited |= {found[page] for page in ("dashboard", "report", "ladder")}
    # By now their lists hold all of them.
    things = replace(things, name="overview")
    for name, address in pages(things, client_of(ada)).items():
        if name not in ALIKE or name == "keys":
            visited.add(address)
    # Of the other runs, only pages that show more than the name.
    for run in runs[1:]:
        source = f"/runs/{run.id}/source?stage={quote(COMMON_STAGE)}"
        visited |= {f"/runs/{run.id}/", f"{source}&against={runs[0].id}"}
    page = visit("/", ada)
    fields = fields_holding(texts, COMMON_STAGE)
    fields |= contents_holding(texts, told_everything, client_of(ada))
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)

    found, unsaid = {}, {}
    names = cycle(packed(texts, USER))
    for address in sorted(visited):
        # Each stands around some of the pages.
        rename(project, ada, next(names))
        page = visit(address, ada)
        if objections := page.evaluate(UNTOUCHED):
            found[address] = objections
        if address in boards:
            shown = page.locator("main").evaluate("main => main.textContent")
            unsaid[address] = [text for text in texts if text not in shown]
    assert found == {}
    assert dialogs == []
    # Otherwise the test would check nothing.
    assert fields >= HOSTILE, HOSTILE - fields
    assert not any(unsaid.values()), unsaid


def test_what_the_agent_captured_is_among_what_is_shown(visit, ada, hostile):
    """The text must be stored, otherwise the pages would be tested without it."""
    _, runs, _ = hostile
    source = f"/runs/{runs[0].id}/source?stage={quote(COMMON_STAGE)}"
    page = visit(f"{source}&against={runs[1].id}", ada)
    for title in ("Arguments", "Packages", "Environment", "Machine", "Code"):
        expect(page.locator("main")).to_contain_text(title)
    shown = page.locator("main").evaluate("main => main.textContent")

    missing = [text for text in PAYLOADS if shown.count(text) < MIN_PLACES]
    assert missing == []


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
