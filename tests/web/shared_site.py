"""A project with some shared runs, and a marker in every value that could leak."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urldefrag, urljoin, urlsplit

import pytest

from seamark.recording.media.png import to_png
from tests.builders import (
    START,
    Process,
    browser_of,
    close_message,
    make_run,
    records_message,
    write,
    write_series,
    write_tags,
    write_values,
)
from tests.tracker.api.v1.test_files import add
from tests.tracker.queries.run.test_code_profile import profile, write_profile
from tests.web.every_page import POINTS
from tests.web.pages.run_files.test_source import write_captured
from tests.web.sample_run import make_sample_run
from tests.web.shared_boards import make_dashboard, make_others, make_report
from tracker.actions.diagnoses.findings import dismiss
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.runs.annotations import annotate
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part
from tracker.models import (
    Dashboard,
    Finding,
    Ladder,
    Member,
    Project,
    Report,
    Run,
)
from tracker.series.compaction import compact_run

if TYPE_CHECKING:
    from django.test import Client

PICTURE = to_png(bytes(12), width=2, height=2, channels=3)
TABLE_TYPE = "application/vnd.seamark.table+json"
SOUND = b"RIFF\x28\0\0\0WAVEfmt " + bytes(28)
# Texts that occur only in content of one part.
MARKS = {
    Part.CONFIG: [
        "chosen-optimizer",
        "chosen-note",
        "typed-argument",
        "tag-of-theirs",
        "described-by-them",
        "count-of-theirs",
    ],
    Part.ENVIRONMENT: [
        "host-of-theirs",
        "git.example",
        "their-variable",
        "source-of-theirs",
        "function-of-theirs",
    ],
    Part.LOGS: ["printed-line", "text-of-failure"],
    Part.FILES: ["checkpoint-of-theirs", "name-of-picture"],
}
# Texts for members only, whatever parts the link shares.
NEVER = [
    "sibling",
    "other-ladder",
    "member-who-dismissed",
    "member-who-made-it",
    "member-who-wrote",
    "said-among-members",
    "omment",
    "CCY",
]
ALL_PARTS = frozenset(Part)


@dataclass(frozen=True)
class Site:
    """Two shared runs and one that is not, with items about the two, and others."""

    project: Project
    maker: Member
    first: Run
    second: Run
    sibling: Run
    ladder: Ladder
    other_ladder: Ladder
    dashboard: Dashboard
    report: Report
    other_dashboard: Dashboard
    other_report: Report

    def of(self, kind: str) -> str:
        return {
            "run": str(self.first.id),
            "comparison": f"runs={self.first.id},{self.second.id}",
            "ladder": str(self.ladder.id),
            "dashboard": str(self.dashboard.id),
            "report": str(self.report.id),
        }[kind]

    def link(self, kind: str = "run", parts: frozenset[Part] = frozenset()) -> str:
        """Make a link, and return the address below which everything of it lies."""
        link_request = LinkRequest(kind, self.of(kind), parts)
        return f"/s/{make_link(self.project, browser_of(self.maker), link_request)}/"


def slow(kind: str, *parts: Part) -> object:
    """Return a case for the slow suite: a link to this kind, with these parts."""
    return pytest.param(kind, frozenset(parts), marks=pytest.mark.slow)


def make_site(project: Project, maker: Member) -> Site:
    first = _told(make_sample_run(project, "first", has_gpu=True))
    second = _told(make_run(project, "second", "finished"))
    sibling = make_run(project, "sibling", "finished")
    write_series(sibling, "train/loss", [1.0, 2.0])
    write_captured(sibling, {"git/branch": "branch-of-sibling", "source/text": "x"})
    # Earlier than the shared runs, so that it is their default comparison.
    began = first.started_at - timedelta(hours=1)
    Run.objects.filter(id=sibling.id).update(started_at=began)
    author = _member(maker, "member-who-made-it").user
    Run.objects.filter(id__in=[first.id, second.id]).update(made_by=author)
    writer = browser_of(_member(maker, "member-who-wrote"))
    annotate(first, "train/loss", 0, "written at a chart", writer)
    project.key_metrics = ["count-of-theirs"]
    project.gpu_hour_price, project.currency = 2.0, "CCY"
    project.save()
    dismisser = _member(maker, "member-who-dismissed")
    finding = Finding.objects.filter(run=first, is_open=True).first()
    assert finding is not None
    dismiss(first, finding.id, browser_of(dismisser), "a reason")
    rungs = [RungRequest(str(run.id)) for run in (first, second)]
    ladder = create_ladder(project, "faster", rungs)
    things = first, second, sibling, ladder, author.id
    return Site(
        project,
        maker,
        first,
        second,
        sibling,
        ladder,
        create_ladder(project, "other-ladder", rungs),
        make_dashboard(*things),
        make_report(*things),
        *make_others(sibling, author.id),
    )


def _member(maker: Member, name: str) -> Member:
    user = maker.user.__class__.objects.create(username=name)
    return Member.objects.create(workspace=maker.workspace, user=user, role="owner")


def _told(run: Run) -> Run:
    """Log something of every part."""
    write_tags(run, "tag-of-theirs")
    write_values(
        run,
        {
            "params/optimizer": f"chosen-optimizer of {run.name}",
            "note": "chosen-note",
            "description": "described-by-them",
            "count-of-theirs": 7,
            "test/accuracy": 0.9,
            "monitoring/train/facts/host": f"host-of-theirs {run.name}",
            "monitoring/train/facts/cpu_model": "a processor",
        },
    )
    write_captured(
        run,
        {
            "git/remote": "https://git.example/team",
            "git/commit": "3179d2f0a1b2c3d4e5f60718293a4b5c6d7e8f90",
            "source/text": "source-of-theirs",
            "source/script": "/home/source-of-theirs/train.py",
            "source/arguments": "python train.py --typed-argument",
            "packages/list": "numpy==2.4.6",
            "environment/OMP_NUM_THREADS": "their-variable",
        },
    )
    names = [["function-of-theirs", "train.py", 1]]
    write_profile(run, profile(names=names, trees={"steps": [-1, 0, 9]}))
    lines = [f"printed-line {number}" for number in range(60)]
    write(run, [records_message("monitoring/train/stdout", lines)])
    write(run, [records_message("samples", ["printed-line"])])
    counts = struct.pack("<Bd4d", 1, 0.0, 0.0, 1.0, 2.0, 3.0)
    write(run, [records_message("weights/layer", [counts], kind="histogram")])
    write_series(run, "train/extra", [1.0, float("nan"), 2.0])
    add(run, "model/checkpoint-of-theirs", bytes(2_048))
    add(run, "sounds/name-of-sound", SOUND, name="s.wav", kind="audio/wav")
    table = b'{"columns":["label"],"rows":[["cat"]]}'
    add(run, "tables/name-of-table", table, name="t.table.json", kind=TABLE_TYPE)
    cloud = {"name": "s.points", "kind": "application/vnd.seamark.points"}
    add(run, "clouds/name-of-points", POINTS, **cloud)
    add(run, "pages/name-of-page", b"<b>b</b>", name="b.html", kind="text/html")
    add(run, "pictures/name-of-picture", PICTURE, name="p.png", kind="image/png")
    add(run, "pictures/name-of-figure", b'{"data": []}', name="f.plotly.json")
    digest = hashlib.sha256(PICTURE).digest()
    frame = digest + struct.pack("<Q", len(PICTURE)) + b"image/png"
    write(run, [records_message("pictures/frames", [frame], kind="image")])
    broken = Process(run.project, run.name, stage="export")
    broken.open()
    failure = "text-of-failure: no such file"
    broken.send([close_message("failed", failure=failure, time=START)])
    compact_run(run.id)
    return Run.objects.get(id=run.id)


class _Addresses(HTMLParser):
    """Collects addresses that a browser or our scripts would request."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_address = name in ("href", "src", "action", "hx-get", "hx-post") or (
                name.startswith("data-") and name.endswith("url")
            )
            if is_address and value is not None:
                self.found.add(value)


def addresses_in(html: str) -> set[str]:
    parser = _Addresses()
    parser.feed(html)
    return parser.found


MAX_ALIKE = 3
# Query strings that scripts append to addresses on pages.
ADDED = {
    "/figures/series": "path=train/loss&path=train/extra",
    "/compare/figures": "figure=path%3Dtrain/loss&figure=path%3Dtrain/extra",
    "/figures/charts": "chart=path%3Dtrain/loss&chart=path%3Dtrain/extra",
    "/figures/histograms": "path=weights",
    "/records": "path=monitoring/train/stdout",
    "/records/found": "path=monitoring/train/stdout&text=line",
}


def crawl(client: Client, start: str) -> dict[str, tuple[int, str]]:
    """Crawl all addresses below the start; return their status and content.

    Of addresses that differ only in the query, it follows a few.
    """
    answers: dict[str, tuple[int, str]] = {}
    waiting, known = [start], {start}
    alike: Counter[tuple[str, frozenset[str]]] = Counter()
    while waiting:
        address = waiting.pop()
        response = client.get(address)
        content = b"".join(response) if response.streaming else response.content
        text = content.decode("utf-8", "replace")
        answers[address] = (response.status_code, text)
        further = set()
        if response.status_code in (301, 302):
            further = {response["Location"]}
        elif response.get("Content-Type", "").startswith("text/html"):
            further = addresses_in(text)
        for found in sorted(further):
            joined = urldefrag(urljoin(address, found)).url
            path = urlsplit(joined).path
            for end, query in ADDED.items():
                if path.endswith(end) and not urlsplit(joined).query:
                    joined = f"{joined}?{query}"
            if path.startswith("/static/") or joined in known:
                continue
            known.add(joined)
            kind = path, frozenset(parse_qs(urlsplit(joined).query))
            alike[kind] += 1
            if alike[kind] <= MAX_ALIKE:
                waiting.append(joined)
    return answers
