"""Media, texts and histograms of a widget's runs at one step, next to each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from tracker.disclosure import seen_by
from tracker.queries.compare.media import media_at, media_steps
from web.figures.board import colour_of
from web.figures.traces import run_round
from web.pages.compare.media_cells import cells_of
from web.pages.dashboards.widget_kind import WITHHELD, Body, Scene
from web.pages.reports.blocks import key_of
from web.pages.run_files.media_items import steps_json
from web.run_names import RunNames

# Each response contains the media of all of them.
MAX_RUNS = 12


@dataclass(frozen=True, slots=True)
class SceneRun:
    """A run of a widget with its name and its look."""

    run: Any  # a row of the runs table, which pages do not import
    name: str
    slot: int

    @property
    def colour(self) -> str:
        return str(colour_of(self.slot))

    @property
    def round(self) -> int:
        return run_round(self.slot)


@dataclass(frozen=True, slots=True)
class StepPanel:
    """A path with a key for the ids of its elements."""

    path: str
    key: str


def step_body(scene: Scene, path: str) -> Body:
    """Return the media at a path at the requested step, by default the last."""
    found, names = scene.values(scene.runs, [path]), scene.names
    if found.withheld:
        return Body(problem=WITHHELD)
    having = [
        SceneRun(run, names[run.id], scene.slot(place))
        for place, run in enumerate(scene.runs)
        if path in found.by_run.get(run.id, {})
    ]
    shown = having[:MAX_RUNS]
    runs = [each.run for each in shown]
    seen = seen_by(scene.actor)
    media = media_at(runs, path, math.inf if scene.at is None else scene.at, seen)
    if not any(media):
        message = gettext("No media, text or histograms at “%(path)s”.")
        return Body(problem=message % {"path": path})
    cells = cells_of(shown, media)
    steps = media_steps(runs, path, seen)
    context = {
        "run_names": RunNames(scene.names.values()),
        "cells": [cell for cell in cells if cell.medium is not None],
        "panel": StepPanel(path, key_of(f"{scene.widget.id} {path}")),
        "requested_step": scene.at,
        "steps_json": steps_json(steps),
        "last_place": len(steps) - 1,
        "place": sum(scene.at is None or step <= scene.at for step in steps) - 1,
        "step_text": "" if scene.at is None else f"{scene.at:.15g}",
    }
    notes = []
    if len(shown) < len(having):
        message = gettext("Showing the first %(count)s of %(all)s runs.")
        notes.append(message % {"count": len(shown), "all": len(having)})
    if empty := len(scene.runs) - len(having):
        message = gettext("%(count)s of %(all)s runs have no data at this path.")
        notes.append(message % {"count": empty, "all": len(scene.runs)})
    return Body("widgets/step_cells.html", context, notes=notes)
