"""A dashboard and a report that show something of every kind, and much that may leak."""

from __future__ import annotations

from tracker.actions.dashboards import create_dashboard
from tracker.actions.deletions import delete_made
from tracker.actions.report_comments import Passage, add_comment
from tracker.actions.reports import create_report, save_draft, save_version
from tracker.boards.board import Board, Place, RunSet, Widget
from tracker.models import Dashboard, File, Ladder, Report, Run
from web.markdown import parts_of
from web.pages.reports.passages import passages_of

CHART, VALUE, TABLE, TEXT, LADDER, LEDGER = (
    f"{number}a{number}a{number}a{number}a" for number in range(1, 7)
)
BAR, SCATTER, PARALLEL, HISTOGRAM, IMPORTANCE, MEDIA, LOGGED, SPREAD = (
    f"{number}c{number}c{number}c{number}c" for number in range(1, 9)
)
MORE, SETTING, MIXED, OTHERS, NAMED = (
    f"{number}b{number}b{number}b{number}b" for number in range(1, 6)
)
# Columns of each part, more than one widget allows.
COLUMNS = [
    "test/accuracy",
    "params/optimizer",
    "note",
    "description",
    "tags",
    "count-of-theirs",
    "monitoring/train/source/arguments",
]
MORE_COLUMNS = [
    "monitoring/train/facts/cpu_model",
    "monitoring/train/facts/host",
    "monitoring/train/git/remote",
    "monitoring/train/environment/OMP_NUM_THREADS",
    "monitoring/train/source/text",
    "monitoring/train/stdout",
    "samples",
    "model/checkpoint-of-theirs",
    "pictures/name-of-picture",
]


def picture_of(run: Run) -> str:
    digest = File.objects.get(run=run, path="pictures/name-of-picture").digest
    return (
        f"/runs/{run.id}/files/picture?path=pictures%2Fname-of-picture&digest={digest}"
    )


def text_of(run: Run, sibling: Run) -> str:
    """Return words with a picture, and links that lead where strangers may not go."""
    return (
        f"Words for everybody. ![seen at last]({picture_of(run)}) "
        f"[that run](/runs/{sibling.id}/) and [a page](https://example.org/paper)."
    )


def make_dashboard(
    first: Run, second: Run, sibling: Run, ladder: Ladder, author: int
) -> Dashboard:
    theirs = RunSet(runs=(first.id, second.id))
    # This set also has both runs, but its query is not for visitors.
    found = RunSet(query='tags contains "tag-of-theirs"')

    def widget(
        key: str, kind: str, run_set: RunSet | None = None, **settings
    ) -> Widget:
        return Widget(
            id=key, kind=kind, run_set=run_set, place=Place(0, 0), settings=settings
        )

    widgets = (
        widget(CHART, "chart", metrics=["train/loss", "train/extra"]),
        widget(VALUE, "value", theirs, metric="test/accuracy", reference=str(first.id)),
        widget(TABLE, "table", theirs, columns=COLUMNS, times=True),
        widget(TEXT, "text", text=text_of(first, sibling)),
        widget(LADDER, "ladder", ladder=str(ladder.id)),
        widget(LEDGER, "ledger", theirs),
        widget(BAR, "bar", theirs, metric="count-of-theirs"),
        widget(SCATTER, "scatter", theirs, x="test/accuracy", y="min(count-of-theirs)"),
        widget(PARALLEL, "parallel", theirs, axes=["params/optimizer", "note"]),
        widget(HISTOGRAM, "histogram", theirs, metric="test/accuracy"),
        widget(IMPORTANCE, "importance", theirs, metric="test/accuracy"),
        widget(MEDIA, "media", theirs, path="pictures/frames"),
        widget(LOGGED, "logged-text", theirs, path="samples"),
        widget(SPREAD, "histograms", theirs, path="weights/layer"),
        widget(MORE, "table", columns=MORE_COLUMNS),
        widget(SETTING, "value", metric="count-of-theirs"),
        widget(MIXED, "chart", metrics=["train/loss", "note", "count-of-theirs"]),
        widget(OTHERS, "table", RunSet(query='params/optimizer = "host-of-theirs"')),
        widget(NAMED, "table", RunSet(query="what is this-about sibling")),
    )
    removed = (widget("ffffffff", "text", text="of the sibling"),)
    board = Board(run_set=found, widgets=widgets, removed=removed)
    return create_dashboard(first.project, "what we look at", board, user_id=author)


def make_report(
    first: Run, second: Run, sibling: Run, ladder: Ladder, author: int
) -> Report:
    of_two = f"run: {first.id}\nrun: {second.id}"
    columns = "\n".join(f"columns: {path}" for path in COLUMNS)
    more = "\n".join(f"columns: {path}" for path in MORE_COLUMNS)
    blocks = (
        f"widget: chart\nmetrics: train/loss\n{of_two}",
        f"widget: value\nmetric: test/accuracy\n{of_two}",
        "widget: value\nmetric: count-of-theirs",
        f"widget: table\n{columns}\n{of_two}",
        f'widget: table\n{more}\nquery: tags contains "tag-of-theirs"',
        f"widget: ladder\nladder: {ladder.id}",
        f"widget: ledger\n{of_two}",
        "widget: table\nthis-about sibling",
        f"widget: media\npath: pictures/frames\n{of_two}",
    )
    fences = "\n\n".join(f"```seamark\n{block}\n```" for block in blocks)
    text = f"# What came of it\n\n{text_of(first, sibling)}\n\n{fences}\n"
    report = create_report(first.project, "What helped", user_id=author)
    old = "An older version, of the sibling."
    save_version(report, "What helped", old, user_id=author, based_on=0)
    report.refresh_from_db()
    save_version(report, "What helped", text, user_id=author, based_on=1)
    report.refresh_from_db()
    draft = "A draft, of the sibling."
    save_draft(report, "What helped", draft, user_id=author, based_on=2)
    passages = [each for each in passages_of(parts_of(text)) if each is not None]
    for about in (None, *passages, Passage("0", "list", "said-among-members")):
        said = "said-among-members"
        add_comment(report, said, user_id=author, version=2, about=about)
    return report


def make_others(sibling: Run, author: int) -> tuple[Dashboard, Report]:
    """Return a dashboard and a report that are not shared; one more is deleted."""
    project, board = sibling.project, Board(run_set=RunSet(runs=(sibling.id,)))
    gone = create_dashboard(project, "of a sibling that is gone", board, user_id=author)
    delete_made(gone, user_id=author)
    dashboard = create_dashboard(project, "of the sibling", board, user_id=author)
    report = create_report(project, "On the sibling", user_id=author)
    save_version(report, "On the sibling", "x", user_id=author, based_on=0)
    return dashboard, report
