from __future__ import annotations

import pytest

from seamark.importers.wandb_media import Bins, Files, Kind, read_media


@pytest.mark.parametrize(
    "edges",
    [{"bins": [0, 1, 2]}, {"packedBins": {"min": 0, "size": 1, "count": 2}}],
    ids=["listed", "packed"],
)
def test_a_histogram_has_its_edges_and_counts(edges):
    value = {"_type": "histogram", "values": [3, 4], **edges}

    assert read_media(value) == Bins([0.0, 1.0, 2.0], [3.0, 4.0])


@pytest.mark.parametrize(
    "value",
    [
        {"bins": [0, 1], "values": [3, 4]},
        {"bins": [1, 0, 2], "values": [3, 4]},
        {"bins": [0, 1, 2], "values": [3, -4]},
        {"bins": [0, 1, "2"], "values": [3, 4]},
        {"packedBins": {"min": "0", "size": 1}, "values": [3, 4]},
        {"bins": [], "values": []},
    ],
)
def test_a_damaged_histogram_is_none(value):
    assert read_media({"_type": "histogram", **value}) is None


def test_pictures_have_their_captions():
    names = ["media/images/a_1.png", "media/images/a_2.png"]
    value = {"_type": "images/separated", "filenames": names, "captions": ["cat"]}

    assert read_media(value) == Files(Kind.IMAGE, names, ["cat", ""])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"_type": "image-file", "path": "x.png"}, Kind.IMAGE),
        ({"_type": "table-file", "path": "x.table.json"}, Kind.TABLE),
        ({"_type": "html-file", "path": "x.html"}, Kind.HTML),
        ({"_type": "audio", "audio": [{"path": "x.wav"}]}, Kind.AUDIO),
        ({"_type": "videos", "videos": [{"path": "x.mp4"}]}, Kind.VIDEO),
    ],
)
def test_files_have_their_kind(value, kind):
    found = read_media(value)

    assert isinstance(found, Files)
    assert found.kind is kind


@pytest.mark.parametrize(
    "value",
    [
        {"_type": "plotly-file", "path": "x.json"},
        {"_type": "image-file"},
        {"_type": "images/separated", "count": 3},
        {"_type": 5},
    ],
)
def test_other_values_have_no_counterpart(value):
    assert read_media(value) is None
