"""Cases that kill the logging process: a training script with the agent."""

from __future__ import annotations

import mmap
import random
import struct
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks.kills.bodies import PROJECT
from benchmarks.kills.case import Result, Size
from benchmarks.kills.installation import Installation, eventually
from benchmarks.kills.stored import installed, read, unused
from tracker.server.processes import ROOT

# How long a script logs before it is killed; the agent writes four times a second.
SHORTEST_SECONDS, LONGEST_SECONDS = 0.05, 2.0
COUNT = struct.Struct("<Q")
# Counts returned calls in shared memory: printing could block.
SCRIPT = f"""
import mmap, struct, sys, time
import agent

name, said = sys.argv[1:]
with open(said, "r+b") as file:
    memory = mmap.mmap(file.fileno(), 8)
run = agent.init(name, project="{PROJECT}", monitor=False)
step = 0
while True:
    run.log({{"together": step, "too": step}}, step=step)
    run["alone"].append(step)
    step += 1
    struct.pack_into("<Q", memory, 0, step)
    time.sleep(0.001)
"""
PATHS = ("together", "too", "alone")


def script_killed(size: Size, database: str) -> Result:
    """Kill a training script, deliver its spool, and compare with its counter."""
    with ExitStack() as stack:
        return kill_scripts(installed(stack, size, database), size)


def kill_scripts(installation: Installation, size: Size) -> Result:
    """The same on a tracker that runs already."""
    chance = random.Random(size.seed)
    logged = lost = doubled = disordered = undelivered = unsaid = 0
    for _ in range(size.rounds):
        name = unused("script")
        script = Script(installation, size.folder, name)
        eventually(script.calls, "a first call that returns")
        time.sleep(chance.uniform(SHORTEST_SECONDS, LONGEST_SECONDS))
        said = script.kill()
        undelivered += script.sync() != 0
        for path in PATHS:
            steps = read(installation, name, path)
            stored = set(steps)
            logged += said
            lost += len(set(range(said)) - stored)
            doubled += len(steps) - len(stored)
            disordered += steps != sorted(steps)
            # It may have been killed before counting the last call.
            unsaid += len(stored - set(range(said)))
    return Result(
        {
            "points": logged,
            "unsaid": unsaid,
            "lost": lost,
            "doubled": doubled,
            "disordered": disordered,
            "undelivered": undelivered,
        },
        {"lost": 0, "doubled": 0, "disordered": 0, "undelivered": 0},
    )


class Script:
    """A training script that logs a counter a thousand times a second."""

    def __init__(self, installation: Installation, folder: Path, name: str) -> None:
        address = installation.addresses[0]
        folder.mkdir(parents=True, exist_ok=True)
        self._environment = {
            **installation.environment,
            "PYTHONPATH": str(ROOT),
            "SEAMARK_URL": f"http://127.0.0.1:{address.port}",
            "SEAMARK_TOKEN": address.token,
            "SEAMARK_SPOOL": str(folder / f"spool-{name}"),
        }
        said = folder / f"said-{name}"
        said.write_bytes(COUNT.pack(0))
        with said.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), COUNT.size)
        self._process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, name, str(said)],
            env=self._environment,
            cwd=folder,
        )

    def calls(self) -> int:
        """Return how many calls have returned."""
        return int(COUNT.unpack_from(self._memory)[0])

    def kill(self) -> int:
        """Kill it; return how many calls had returned."""
        self._process.kill()
        self._process.wait()
        return self.calls()

    def sync(self) -> int:
        """Deliver the script's spool; return 0 on success."""
        return subprocess.run(
            [sys.executable, "-m", "seamark", "sync"],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
