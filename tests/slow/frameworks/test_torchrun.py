"""Ranks that the real torchrun starts are parts of one run."""

from __future__ import annotations

import pytest

from tests.slow.frameworks.requiring import framework

framework("torch")

RANKS = 3
SCRIPT = """
import agent, torch
from torch import distributed

distributed.init_process_group("gloo")
rank = distributed.get_rank()
run = agent.init("r", project="p", stage="train", monitor=False)
for step in range(5):
    loss = torch.tensor(float(rank))
    distributed.all_reduce(loss)
    run[f"loss/{rank}"].append(loss, step=step)
run.finish()
distributed.destroy_process_group()
"""
LAUNCH = """
import sys
from torch.distributed.run import main

sys.exit(main(sys.argv[1:] + ["--standalone", "--nproc-per-node", "{ranks}", "{script}"]))
"""


@pytest.mark.timeout(300)
def test_each_rank_of_torchrun_is_a_rank_of_the_run(tracker, run_script, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)

    done = run_script(LAUNCH.format(ranks=RANKS, script=script), seconds=240)

    assert done.returncode == 0, done.stderr
    opened = tracker.of_kind("open")
    assert {message["run"] for message in opened} == {"r"}
    assert sorted(message["rank"] for message in opened) == [*range(RANKS)]
    for rank in range(RANKS):
        # The sum over all ranks.
        assert tracker.values(f"loss/{rank}") == [3.0] * 5
    assert tracker.states() == ["finished"] * RANKS
