"""Ranks of one run, as started by torchrun, with a real server."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from tests.slow.end_to_end.installation import ROOT, eventually
from tests.slow.end_to_end.test_kills import Reader

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

TRAIN = """
import sys
import time
import agent

first, seconds = int(sys.argv[1]), float(sys.argv[2])
time.sleep(seconds)
run = agent.init(project="kills", monitor=False)
for step in range(first, first + 20):
    run["train/loss"].append(step, step=step)
    time.sleep(0.05)
"""


def train(up, name, *, first=0, late=0.0, **variables):
    """Run two ranks at once, the second of which begins to log some seconds later."""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", TRAIN, str(first), str(late * rank)],
            cwd=ROOT,
            env={
                **up.environment,
                "SEAMARK_RUN": name,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": "2",
                "TORCHELASTIC_RUN_ID": "job-7",
                "TORCHELASTIC_RESTART_COUNT": "0",
                **variables,
            },
        )
        for rank in (0, 1)
    ]
    assert [rank.wait(timeout=90) for rank in ranks] == [0, 0]


def run_id(reader, name):
    (run,) = reader.get("/projects/home/kills/runs", search=name)["runs"]
    return run["id"]


def attributes(reader, name):
    answer = reader.get(f"/runs/{run_id(reader, name)}/attributes")
    return {each["path"]: each for each in answer["attributes"]}


def test_ranks_that_share_a_path_are_named_or_kept_apart_or_start_again(up):
    up.start()
    reader = Reader(up)

    train(up, "shared")
    train(up, "apart", SEAMARK_SEPARATE_RANKS="yes")

    def writers(name, path):
        return [each["rank"] for each in attributes(reader, name)[path]["writers"]]

    assert eventually(lambda: writers("shared", "train/loss")) == [0, 1]
    own = ["rank-1/train/loss", "train/loss"]
    eventually(
        lambda: (
            own
            == [
                path
                for path, each in attributes(reader, "apart").items()
                if path.endswith("train/loss") and each["count"] == 20
            ]
        )
    )
    assert writers("apart", "train/loss") == writers("apart", "rank-1/train/loss") == []

    # From a checkpoint; the late rank hides no data of the first one.
    train(up, "shared", first=15, late=2.0, TORCHELASTIC_RESTART_COUNT="1")
    query = {"path": "train/loss", "buckets": 5_000}
    (line,) = reader.get(f"/runs/{run_id(reader, 'shared')}/series", **query)["series"]
    assert line["exact"]
    assert Counter(line["x"]) == dict.fromkeys(range(35), 2)
