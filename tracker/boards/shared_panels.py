"""The kinds of panels that share links show, with the part that each needs (pure)."""

from __future__ import annotations

from tracker.actor import Part

PANEL_PARTS: dict[str, Part | None] = {
    "text": None,
    "histograms": None,
    # Its columns name parameters.
    "table": Part.CONFIG,
    "media": Part.FILES,
    "logged-text": Part.LOGS,
}


def is_shown(kind: str, parts: frozenset[Part]) -> bool:
    """Return whether a link with these parts shows panels of this kind."""
    if kind not in PANEL_PARTS:
        return False
    part = PANEL_PARTS[kind]
    return part is None or part in parts
