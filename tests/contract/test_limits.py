"""The agent lets through what the server takes, and nothing longer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seamark.errors import InvalidSetting
from seamark.messages import Origin, open_spool
from seamark.settings import read_settings
from tests.agent.test_spool import ORIGIN
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import read_message

LONGEST = {
    "project": LIMITS.project_characters,
    "run": LIMITS.run_characters,
    "stage": LIMITS.stage_characters,
}
VARIABLES = {name: f"SEAMARK_{name.upper()}" for name in LONGEST}


def read(environment=None, *, strict=True, **arguments):
    wanted = dict.fromkeys(("run", "project", "stage", "rank", "mode", "monitor"))
    return read_settings(
        **{**wanted, **arguments}, strict=strict, environment=environment or {}
    )


def origin_of(settings) -> Origin:
    return replace(
        ORIGIN, project=settings.project, run=settings.run, stage=settings.stage
    )


@pytest.mark.parametrize("name", LONGEST)
def test_the_longest_name_is_one_that_the_server_takes(name):
    longest = LONGEST[name] * "é"

    opened = read_message(open_spool(origin_of(read(**{name: longest}))))

    assert getattr(opened, name) == longest
    with pytest.raises(InvalidSetting, match=f"at most {LONGEST[name]} characters"):
        read(**{name: f"{longest}é"})


@pytest.mark.parametrize("name", LONGEST)
def test_a_longer_one_of_the_environment_becomes_one_that_it_takes(name):
    settings = read({VARIABLES[name]: 300 * "é"}, strict=False)

    opened = read_message(open_spool(origin_of(settings)))

    assert len(getattr(opened, name)) == LONGEST[name]
