"""Point clouds: binary columns of float32 coordinates, values and colors."""

from __future__ import annotations

import numpy as np
import pytest

import agent
from seamark.recording.file_contents import POINTS, to_content
from seamark.recording.media.point_clouds import HEAD, MAX_POINTS
from tests.agent.recording.media.test_media import log


def content(value):
    return to_content(value, fallback="x", name=None, media_type=None)


def read(cloud):
    """Return the head, the coordinates, and the values or colors of a cloud."""
    data = content(cloud).data()
    _, _, form, _, count, total = HEAD.unpack_from(data)
    numbers = np.frombuffer(data, "<f4", 3 * count, HEAD.size)
    rest = data[HEAD.size + 12 * count :]
    more = np.frombuffer(rest, "<f4" if form == 1 else np.uint8)
    return (form, count, total), numbers.reshape(3, count).T.tolist(), more.tolist()


def test_points_become_columns():
    head, points, more = read(agent.PointCloud(np.array([[1, 2, 3], [4, 5, 6.5]])))

    assert head == (0, 2, 2)
    assert points == [[1, 2, 3], [4, 5, 6.5]]
    assert more == []


def test_a_fourth_column_is_a_value():
    head, points, values = read(agent.PointCloud([[1, 2, 3, 0.5], [4, 5, 6, -1]]))

    assert head == (1, 2, 2)
    assert points == [[1, 2, 3], [4, 5, 6]]
    assert values == [0.5, -1]


@pytest.mark.parametrize(
    ("colors", "levels"),
    [
        ([[255, 128, 0]], [255, 128, 0]),
        ([[255.0, 128.0, 0.4]], [255, 128, 0]),
        ([[1.0, 0.5, 0.0]], [255, 128, 0]),
        ([[300, -1, 7]], [255, 0, 7]),
    ],
)
def test_three_more_columns_are_a_color(colors, levels):
    points = np.hstack([np.zeros((1, 3), np.array(colors).dtype), colors])

    head, _, found = read(agent.PointCloud(points))

    assert head == (2, 1, 1)
    assert found == levels


def test_many_points_are_evenly_chosen_and_that_is_reported():
    points = np.arange(3 * 250_000).reshape(-1, 3)

    found = content(agent.PointCloud(points))
    head, kept, _ = read(agent.PointCloud(points))

    assert head == (0, MAX_POINTS, 250_000)
    assert kept[0] == [0, 1, 2]
    assert kept[-1] == pytest.approx(points[-1].tolist())
    assert "only 100,000 of 250,000 points" in found.note


def test_points_that_are_not_finite_are_left_out():
    head, points, _ = read(
        agent.PointCloud([[np.nan, 0, 0], [1, np.inf, 0], [1, 2, 3]])
    )

    assert head == (0, 1, 3)
    assert points == [[1, 2, 3]]


def test_no_points_are_a_cloud():
    assert read(agent.PointCloud(np.empty((0, 6)))) == ((2, 0, 0), [], [])


@pytest.mark.parametrize(
    "points",
    [np.zeros(3), np.zeros((2, 5)), np.zeros((1, 2, 3)), [["a", "b", "c"]], object()],
)
def test_other_values_are_refused(points):
    with pytest.raises(agent.UnsupportedValue, match="point cloud"):
        content(agent.PointCloud(points))


def test_a_cloud_is_a_record_with_its_caption(tracker):
    cloud = agent.PointCloud(np.zeros((5, 3)), caption="lidar")

    (found,) = log(tracker, (cloud, {"step": 3}), count=1)

    assert found == ("file", 3.0, POINTS, {"caption": "lidar"})
