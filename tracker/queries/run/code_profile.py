"""The profiles of a run: one per stage and machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from tracker.diagnosis.analysis.code_profile import CallTree, parse_profile
from tracker.models import Kind, Run
from tracker.queries.run.attributes import attribute_paths, attribute_values
from tracker.queries.run.namespaces import MONITORING, PROFILE, monitoring_path

IS_PROFILE = Q(kind=Kind.STRING, path__endswith=PROFILE)
RANK = re.compile(r"(?P<stage>.+?)(?:/rank-(?P<rank>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class ProfilePlace:
    """The process that was profiled: the first one of its machine."""

    stage: str
    rank: int
    path: str


@dataclass(frozen=True, slots=True)
class ScriptText:
    """The captured script; `path` and `folder` are absolute, or "" if unknown."""

    path: str
    folder: str
    lines: Sequence[str]

    def line(self, file: str, number: int) -> str:
        """Return a line of a file, without indentation; "" if the script is another."""
        if not self._is(file) or not 0 < number <= len(self.lines):
            return ""
        return self.lines[number - 1].strip()

    def _is(self, file: str) -> bool:
        """Compare as the SDK shortens: relative to the folder, or the last two parts."""
        path, file = self.path.replace("\\", "/"), file.replace("\\", "/")
        if not path:
            return False
        folder = self.folder.replace("\\", "/")
        in_folder = posixpath.normpath(posixpath.join(folder, file))
        return path in {in_folder, file} or path.split("/")[-2:] == file.split("/")


def profile_places(run: Run) -> list[ProfilePlace]:
    """Return the processes that have a profile, by stage and rank."""
    places = []
    for path in attribute_paths(run, MONITORING, where=IS_PROFILE):
        inner = path.removeprefix(MONITORING).removesuffix(PROFILE)
        if match := RANK.fullmatch(inner):
            places.append(ProfilePlace(match["stage"], int(match["rank"] or 0), path))
    return sorted(places, key=lambda place: (place.stage, place.rank))


def read_profile(run: Run, place: ProfilePlace) -> Mapping[str, CallTree]:
    """Return the call trees by period; {} if the text is not a profile."""
    return read_profiles(run, [place])[place.path]


def read_profiles(
    run: Run, places: Sequence[ProfilePlace]
) -> dict[str, Mapping[str, CallTree]]:
    """Return the call trees of several processes by their paths."""
    rows = attribute_values([run.id], [place.path for place in places])[run.id]
    values = {place.path: rows.get(place.path) for place in places}
    return {
        path: parse_profile(row.value) if row and isinstance(row.value, str) else {}
        for path, row in values.items()
    }


def script_text(run: Run, stage: str) -> ScriptText:
    """Return the script as captured in the stage's first process."""
    names = ("script", "folder", "text")
    paths = [monitoring_path(stage, f"source/{name}") for name in names]
    rows = attribute_values([run.id], paths)[run.id]
    values = [rows[path].value if path in rows else "" for path in paths]
    path, folder, text = (each if isinstance(each, str) else "" for each in values)
    return ScriptText(path, folder, text.split("\n"))
