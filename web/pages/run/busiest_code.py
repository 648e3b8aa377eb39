"""The code that takes the most time in each stage of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracker.diagnosis.analysis.code_lines import line_times
from tracker.diagnosis.analysis.code_profile import STEPS
from tracker.queries.run.code_profile import ProfilePlace, read_profiles
from web.pages.run.stage_sections import MAX_OPEN, StageSection
from web.pages.run_profile.headline import ENOUGH_SAMPLES, Headline, headline_of


# Any: a row of the runs table, which pages do not import.
def busiest_code(
    run: Any, places: Sequence[ProfilePlace], shown: Sequence[StageSection]
) -> dict[str, Headline]:
    """Return it by stage, for stages without a finding that names the cause."""
    wanted = [section.stage.name for section in shown if section.verdict][:MAX_OPEN]
    # The first rank stands for its stage.
    of_stage = {each.stage: each for each in reversed(places) if each.stage in wanted}
    profiles = read_profiles(run, list(of_stage.values())) if of_stage else {}
    found = {}
    for stage, place in of_stage.items():
        tree = profiles[place.path].get(STEPS)
        if tree is not None and tree.samples >= ENOUGH_SAMPLES:
            found[stage] = headline_of(line_times(tree))
    return {stage: headline for stage, headline in found.items() if headline}
