"""Joins the style sheets of all pages, without a build step.

Browsers fetch each sheet separately, and render after the last one: some thirty small
sheets took a third of the time to first paint, even when cached. In the source, each
stays a file next to the component it describes.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import AppDirectoriesFinder, BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

# Relative addresses in the sheets are meant from here.
FOLDER = "web/css"
# In the order in which browsers should read them.
JOINED: dict[str, Sequence[str]] = {
    "all.css": (
        "tokens.css",
        "base.css",
        "components/avatar.css",
        "components/button.css",
        "components/card.css",
        "components/chip.css",
        "components/dialog.css",
        "components/drop.css",
        "components/empty.css",
        "components/field.css",
        "components/gate.css",
        "components/header.css",
        "components/key-values.css",
        "components/menu.css",
        "components/palette.css",
        "components/people.css",
        "components/run-colour.css",
        "components/runs-grid.css",
        "components/share.css",
        "components/snippet.css",
        "components/table.css",
        "components/members.css",
        "components/tabs.css",
        "components/theme.css",
        "components/toast.css",
        "components/toolbar.css",
        "components/trash.css",
    ),
    "all-of-run.css": (
        "components/chart.css",
        "components/run.css",
        "components/finding.css",
        "components/ledger.css",
        "components/metrics.css",
        "components/tree.css",
        "components/chart-tools.css",
        "components/charts.css",
        "components/section-index.css",
        "components/gallery.css",
    ),
}


class JoinedStyles(BaseFinder):
    """Finds each combined style sheet as a file, created at the first request."""

    def find(  # type: ignore[override] # its stubs tell the two answers apart
        self, path: str, find_all: bool = False, **options: Any
    ) -> str | list[str]:
        # Django's own finders take the older name of the same wish, too.
        wants_all = find_all or options.get("all", False)
        name = path.removeprefix(f"{FOLDER}/")
        if path == name or name not in JOINED:
            return []
        found = str(_made() / path)
        return [found] if wants_all else found

    def list(
        self,
        ignore_patterns: Any,  # noqa: ARG002 - Django asks all finders alike
    ) -> Iterator[tuple[str, Storage]]:
        storage = FileSystemStorage(location=_made())
        for name in JOINED:
            yield f"{FOLDER}/{name}", storage


def _made() -> Path:
    """Return a folder that holds the joined sheets, each in its place."""
    texts = _texts()
    digest = hashlib.sha256(repr(texts).encode()).hexdigest()[:16]
    folder = Path(settings.DATA_FOLDER) / "styles" / digest
    for name, text in texts:
        path = folder / FOLDER / name
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Other processes may look for it at the same time.
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                file.write(text)
            Path(file.name).replace(path)
    return folder


@cache
def _texts() -> tuple[tuple[str, bytes], ...]:
    return tuple(
        (name, b"\n".join(_read(f"{FOLDER}/{sheet}") for sheet in sheets))
        for name, sheets in JOINED.items()
    )


def _read(name: str) -> bytes:
    path = AppDirectoriesFinder().find(name)
    assert isinstance(path, str), f"there is no {name}"
    return Path(path).read_bytes()
