"""Pinned metrics of a project."""

import pytest

from tracker.actions.key_metrics import MAX_PINNED, pin_metric, unpin_metric
from tracker.errors import InvalidInput

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def pinned(project):
    project.refresh_from_db()
    return project.key_metrics


def test_metrics_stand_in_the_order_in_which_they_were_pinned(project):
    for path in ("val/f1", "train/loss", "val/f1"):
        pin_metric(project, path)
    assert pinned(project) == ["val/f1", "train/loss"]

    unpin_metric(project, "val/f1")
    unpin_metric(project, "never/pinned")

    assert pinned(project) == ["train/loss"]


@pytest.mark.parametrize("path", ["", "  ", "a\0b", "\ud800", "x" * 1_025])
def test_an_invalid_path_is_refused(project, path):
    with pytest.raises(InvalidInput):
        pin_metric(project, path)


def test_no_more_than_are_shown(project):
    for number in range(MAX_PINNED):
        pin_metric(project, f"metric/{number}")

    with pytest.raises(InvalidInput):
        pin_metric(project, "one/more")

    assert len(pinned(project)) == MAX_PINNED
