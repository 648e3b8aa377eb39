"""Every picture in the documentation exists, and there are no others."""

from __future__ import annotations

from tests.screenshots import FOLDER, shown_pictures


def test_every_picture_is_shown_and_every_one_that_is_shown_is_there():
    shown = {f"{name}-{theme}.png" for name, theme in shown_pictures()}

    assert {path.name for path in FOLDER.iterdir()} == shown
