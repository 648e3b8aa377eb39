"""Pictures, texts, histograms and files of several runs, by path and step."""

from __future__ import annotations

import hashlib
import re
import struct
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from seamark.recording.media.png import to_png
from tests.builders import browser_of, make_run, records_message, write, write_series
from tests.tracker.api.v1.test_files import add, deliver
from tests.web.pages.run_files.test_media import WAV, reference
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part

pytestmark = pytest.mark.django_db

HOSTILE = "<img src=x onerror=alert(1)>\"'&"


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


@pytest.fixture
def runs(project):
    return [make_run(project, name, "finished") for name in ("first", "second")]


@pytest.fixture
def get(client_of, member, project):
    """Return a function that opens the tab, or one of its rows."""
    client = client_of(member)

    def get(*runs, name="compare", status=200, **query):
        ids = ",".join(str(run.id) for run in runs)
        address = reverse(name, args=[project.workspace.slug, project.slug])
        response = client.get(address, {"runs": ids, "tab": "media", **query})
        assert response.status_code == status
        return response.content.decode()

    return get


@pytest.fixture
def row(get):
    """Return a function that returns the texts of a row's cells."""

    def row(*runs, path, **query):
        return cells(get(*runs, name="compare-media", path=path, **query))

    return row


def cells(page):
    return [
        " ".join(text(cell).split())
        for cell in page.split('<td class="media__cell"')[1:]
    ]


def text(html):
    return unescape(re.sub(r"<[^>]*>|^[^>]*>", " ", html))


def paths(page):
    return re.findall(r'class="media__path mono"><bdi>([^<]*)<', page)


def picture(shade):
    return to_png(bytes([shade] * 12), width=2, height=2, channels=3)


def write_pictures(run, path, shades, *, steps=None):
    """Log pictures as a series; their contents arrive, too."""
    contents = [picture(shade) for shade in shades]
    records = [
        hashlib.sha256(each).digest() + struct.pack("<Q", len(each)) + b"image/png"
        for each in contents
    ]
    write(run, [records_message(path, records, kind="image", steps=steps)])
    for each in contents:
        deliver(run, each)


def counted(*counts, low=0.0, high=1.0, others=0.0):
    numbers = struct.pack(f"<{2 + len(counts)}d", low, high, *counts)
    return struct.pack("<Bd", 1, others) + numbers


def write_histograms(run, path, *values, steps=None):
    write(run, [records_message(path, values, kind="histogram", steps=steps)])


def write_texts(run, path, texts, *, steps=None):
    write(run, [records_message(path, texts, steps=steps)])


def test_without_any_it_says_how_to_log_some(get, runs):
    write_series(runs[0], "train/loss", [1.0])

    page = get(*runs)

    assert "No media yet" in page
    assert "agent.Image(pixels)" in page


def test_rows_are_the_paths_of_all_runs_without_logs_and_numbers(get, runs):
    write_texts(runs[0], "samples/caption", ["a cat"])
    write_histograms(runs[1], "grads", counted(1, 2))
    add(runs[1], "plots/roc", picture(1), name="roc.png", kind="image/png")
    add(runs[1], "model/best", b"\0weights")
    for logged in ("logs/eval", "monitoring/train/stdout"):
        write_texts(runs[0], logged, ["a line"])

    assert paths(get(*runs)) == ["grads", "plots/roc", "samples/caption"]
    assert paths(get(*runs, hidden="1")) == ["samples/caption"]


def test_paths_are_found_by_a_part_or_an_expression(get, runs):
    write_texts(runs[0], "samples/caption", ["a cat"])
    write_texts(runs[1], "notes/of", ["a dog"])

    assert paths(get(*runs, text="CAPT")) == ["samples/caption"]
    assert paths(get(*runs, text="of$|cap", regex="1")) == [
        "notes/of",
        "samples/caption",
    ]
    assert "No matching paths" in get(*runs, text="nowhere")
    assert "Invalid regular expression" in get(*runs, text="(", regex="1")


def test_each_run_shows_its_nearest_step_at_or_before(row, runs):
    write_texts(runs[0], "caption", ["at 0", "at 10", "at 20"], steps=[0, 10, 20])
    write_texts(runs[1], "caption", ["at 15", "at 25"], steps=[15, 25])

    assert row(*runs, path="caption") == ["at 20 step 20", "at 25 step 25"]
    assert row(*runs, path="caption", at=19) == ["at 10 step 10", "at 15 step 15"]
    assert row(*runs, path="caption", at=10) == [
        "at 10 step 10",
        "First logged at step 15.",
    ]


def test_of_steps_in_disorder_and_of_several_batches_the_nearest_is_found(row, runs):
    run = runs[0]
    write_texts(run, "caption", ["a", "b"], steps=[0, 100])
    write_texts(run, "caption", ["c"], steps=[50])
    write_texts(run, "caption", ["d"], steps=[50])

    shown = [row(run, runs[1], path="caption", at=at)[0] for at in (49, 50, 99, 100)]

    assert shown == ["a step 0", "d step 50", "d step 50", "b step 100"]


def test_pictures_are_those_of_their_steps(get, runs):
    write_pictures(runs[0], "samples", [1, 2], steps=[0, 10])
    write_pictures(runs[1], "samples", [3], steps=[5])

    page = get(*runs, name="compare-media", path="samples", at=7)

    shown = re.findall(
        r'<img src="/runs/([^/]*)/files/picture\?path=samples&amp;digest=(\w*)', page
    )
    assert shown == [
        (str(run.id), hashlib.sha256(picture(shade)).hexdigest())
        for run, shade in zip(runs, (1, 3), strict=True)
    ]
    assert re.findall(r'mono">(step \d+)<', page) == ["step 0", "step 5"]


def test_all_pictures_of_a_list_are_shown_with_captions_boxes_and_masks(get, runs):
    contents = [picture(shade) for shade in (1, 2, 3)]
    records = [
        reference(contents[0], caption="a cat", boxes=[[0, 0, 1, 1, "cat 0.9"]]),
        reference(contents[1], is_mask=True),
        reference(contents[2], caption="a dog"),
    ]
    write(runs[0], [records_message("samples", records, kind="image", steps=[7] * 3)])
    for each in contents:
        deliver(runs[0], each)

    page = get(runs[0], name="compare-media", path="samples")

    assert page.count('data-part="zoom"') == 2
    assert re.findall(r"<figcaption[^>]*>([^<]*)<", page) == ["a cat", "a dog"]
    assert page.count("medium__mask") == 1
    assert ">cat 0.9</text>" in page


def test_of_long_lists_the_rest_is_linked(get, runs):
    write_pictures(runs[0], "samples", range(20), steps=[3] * 20)

    page = get(runs[0], name="compare-media", path="samples")

    assert page.count('data-part="zoom"') == 12
    assert f'href="/runs/{runs[0].id}/media?step=3">8 more<' in page


@pytest.mark.parametrize(
    ("content", "kind", "shown"),
    [
        (b"<b>Done</b>", "text/html", "<iframe"),
        (WAV, "audio/wav", "<audio controls"),
        (b"{}", "application/vnd.seamark.table+json", "media/table?"),
        (b"{}", "application/vnd.plotly.v1+json", "data-figure-url"),
    ],
    ids=["html", "audio", "table", "figure"],
)
def test_each_kind_of_media_is_shown_at_its_step(get, runs, content, kind, shown):
    for number, each in enumerate((content, content + b" ")):
        record = reference(each, kind)
        message = records_message("seen", [record], kind="file", steps=[number])
        write(runs[0], [message])
        deliver(runs[0], each)

    page = get(*runs, name="compare-media", path="seen", at=0)

    assert shown in page
    assert f"digest={hashlib.sha256(content).hexdigest()}" in page


def test_a_picture_that_has_not_arrived_is_awaited(row, runs):
    content = picture(9)
    record = hashlib.sha256(content).digest() + struct.pack("<Q", 1) + b"image/png"
    write(runs[0], [records_message("samples", [record], kind="image")])

    first, second = row(*runs, path="samples")

    assert "Not uploaded yet" in first
    assert second == "–"


def test_histograms_share_their_scale_and_say_their_numbers(get, runs):
    write_histograms(runs[0], "grads", counted(1, 3, low=-1, high=1))
    write_histograms(runs[1], "grads", counted(4, 4, low=0, high=2, others=2))

    page = get(*runs, name="compare-media", path="grads")

    assert page.count("<svg") == 2
    first, second = cells(page)
    assert first.startswith("\N{MINUS SIGN}1 2 4 values")
    assert "\N{MINUS SIGN}1 2 8 values; 2 NaN or infinite" in second


def test_files_show_what_their_bytes_are(row, runs):
    add(runs[0], "shown", b"class,recall\na,0.9\n", name="a.csv", kind="text/csv")
    add(runs[1], "shown", b"# <b>Done</b>", name="a.md", kind="text/markdown")

    first, second = row(*runs, path="shown")

    assert first == "class recall a 0.9 a.csv , 19 B"
    assert second == "# <b>Done</b> a.md , 13 B"


def test_kinds_may_differ_between_runs(row, runs):
    write_texts(runs[0], "shown", ["a text"])
    write_histograms(runs[1], "shown", counted(1))

    first, second = row(*runs, path="shown")

    assert first == "a text step 0"
    assert "1 value step 0" in second


@pytest.mark.parametrize(
    ("steps", "slider"),
    [
        ([3, 40], ("3", "40", "1")),
        ([0, 1_000_000], ("0", "1000000", "1000")),
        ([7, 1_995], ("6", "1996", "2")),
        ([0.25, 0.5], ("0.25", "0.5", "0.0005")),
    ],
)
def test_the_slider_has_round_steps_around_all(get, runs, steps, slider):
    write_texts(runs[0], "caption", ["a", "b"], steps=steps)

    page = get(*runs, at=steps[0])

    (found,) = re.findall(r'min="(\S+)" max="(\S+)" step="(\S+)" value="(\S+)"', page)
    assert found == (*slider, str(steps[0]))


def test_of_a_single_step_there_is_no_slider(get, runs):
    write_texts(runs[0], "caption", ["a", "b"], steps=[5, 5])

    assert 'type="range"' not in get(*runs)


@pytest.mark.parametrize("at", ["", "nan", "inf", "x", "\0"])
def test_what_is_no_step_is_the_last(row, runs, at):
    write_texts(runs[0], "caption", ["a", "b"])

    assert row(*runs, path="caption", at=at)[0] == "b step 1"


@pytest.mark.parametrize(
    ("path", "status"),
    [("", 400), ("a\0b", 400), ("nowhere", 404), ("train/loss", 404)],
)
def test_a_row_of_nothing_is_refused(get, runs, path, status):
    write_series(runs[0], "train/loss", [1.0])

    get(*runs, name="compare-media", path=path, status=status)


def test_hostile_names_and_texts_stay_texts(get, project):
    runs = [make_run(project, f"{HOSTILE}{number}") for number in (1, 2)]
    write_texts(runs[0], f"a/{HOSTILE}", [f"\x1b[31m{HOSTILE}"])

    page = get(*runs)
    row = get(*runs, name="compare-media", path=f"a/{HOSTILE}")

    assert "<img" not in page + row
    assert HOSTILE in text(row)


def test_of_many_runs_no_more_is_asked_than_of_few(get, project):
    runs = [make_run(project, f"run-{number}") for number in range(20)]
    for run in runs:
        write_texts(run, "caption", ["a", "b"])
        write_histograms(run, "grads", counted(1, 2))
        write_pictures(run, "samples", [1])

    for asked in (
        {},
        *(
            {"name": "compare-media", "path": path}
            for path in ("caption", "grads", "samples")
        ),
    ):
        counts = []
        for some in (runs[:2], runs):
            with CaptureQueriesContext(connection) as queries:
                get(*some, **asked)
            counts.append(len(queries))
        assert counts[0] == counts[1]


def test_a_damaged_chunk_is_said_and_the_others_are_shown(row, runs):
    for run in runs:
        write_texts(run, "caption", ["a text"])
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tracker_recordchunk SET data = %s WHERE run_id = %s",
            [
                b"damaged",
                runs[0].id if connection.vendor == "postgresql" else runs[0].id.hex,
            ],
        )

    assert row(*runs, path="caption") == ["Cannot read this content.", "a text step 0"]


@pytest.fixture
def shared(project, member, runs):
    """Return a function that opens the tab, or a row, by a link with these ticks."""
    for run in runs:
        write_texts(run, "caption", ["said-by-them"])
        write_histograms(run, "grads", counted(1, 2))
        write_pictures(run, "samples", [1])
        add(run, "plots/roc", picture(2), name="roc.png", kind="image/png")

    def shared(*parts, rest="compare", **query):
        of = f"runs={','.join(str(run.id) for run in runs)}"
        link_request = LinkRequest("comparison", of, frozenset(parts))
        base = f"/s/{make_link(project, browser_of(member), link_request)}/"
        asked = {**dict([of.split("=")]), "tab": "media", **query}
        return base, Client().get(f"{base}w/ada-workspace/vision/{rest}", asked)

    return shared


@pytest.mark.parametrize(
    ("parts", "seen"),
    [
        ((), ["grads"]),
        ((Part.LOGS,), ["caption", "grads"]),
        ((Part.FILES,), ["grads", "samples", "plots/roc"]),
        ((Part.CONFIG, Part.ENVIRONMENT), ["grads"]),
    ],
)
def test_a_link_shows_the_paths_that_its_ticks_show_of_a_run(shared, parts, seen):
    _, page = shared(*parts)
    found = [
        path
        for path in ("caption", "grads", "samples", "plots/roc")
        if shared(*parts, rest="compare/media", path=path)[1].status_code == 200
    ]

    assert paths(page.content.decode()) == found == seen


def test_pictures_of_a_link_come_from_the_link_and_only_if_they_may(shared):
    base, row = shared(Part.FILES, rest="compare/media", path="samples")

    addresses = re.findall(r'<img src="([^"]*)"', row.content.decode())
    assert len(addresses) == 2
    assert all(address.startswith(base) for address in addresses)
    assert Client().get(unescape(addresses[0])).status_code == 200
    without, _ = shared(Part.LOGS)
    hidden = unescape(addresses[0]).replace(base, without)
    assert Client().get(hidden).status_code == 404


def test_a_link_opens_no_run_beside_its_own(shared, project):
    other = make_run(project, "other")
    write_histograms(other, "of-other", counted(1))

    _, page = shared(*Part, runs=str(other.id))
    _, row = shared(*Part, rest="compare/media", path="of-other", runs=str(other.id))

    assert "of-other" not in page.content.decode()
    assert row.status_code == 404
