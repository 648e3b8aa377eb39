"""The agent accepts exactly what the server accepts."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest

import agent
from seamark import path
from seamark.errors import InvalidSetting
from seamark.messages import Origin, open_spool, set_value
from seamark.recording import file_contents, path_types, tags, values
from seamark.recording.media import histogram
from seamark.settings import read_settings
from tests.agent.queue.test_spool import ORIGIN
from tracker.ingest.limits import LIMITS
from tracker.ingest.messages import SetValue, read_message
from tracker.ingest.storable import LARGEST_STEP, LATEST_TIME

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


def test_the_sdk_checks_what_is_logged_against_the_servers_limits():
    checked = {
        "attributes": path_types.LARGEST_RUN,
        "file_name_characters": file_contents._LONGEST_NAME,
        "histogram_bins": histogram.MAX_BINS,
        "media_type_characters": file_contents._LONGEST_TYPE,
        "path_bytes": path.LARGEST_PATH,
        "path_characters": path.LONGEST_PATH,
        "set_string_characters": values.LONGEST_SET_STRING,
        "set_strings": values.LARGEST_SET,
        "string_characters": values.LONGEST_TEXT,
    }

    assert checked.items() <= asdict(LIMITS).items()
    assert LIMITS.set_string_characters == tags._LONGEST_TAG
    assert values.LARGEST_STEP == LARGEST_STEP
    assert values._LATEST_MICROSECONDS == LATEST_TIME


BAD_STEPS = (float(2**54), 1_795_850_548_387_927_714, -(2**60), math.inf, math.nan)


@pytest.mark.parametrize("step", BAD_STEPS, ids=repr)
def test_a_step_that_the_server_refuses_is_refused_with_its_path(step):
    with agent.init("r", mode="offline", monitor=False, strict=True) as run:
        run["loss"].append(1.0, step=2**53)
        for log in (
            lambda: run["loss"].append(1.0, step=step),
            lambda: run["other"].append(1.0, step=step),
            lambda: run.log({"loss": 1.0}, step=step),
        ):
            with pytest.raises(agent.UnsupportedValue, match="is not a step"):
                log()


def test_a_none_is_a_value_of_the_protocol():
    assert read_message(set_value("best/score", None)) == SetValue("best/score", None)
