"""CF-24, CF-25: odd values are logged, and runs handed over."""

from __future__ import annotations

import base64
import sys
from importlib.util import find_spec

from benchmarks.agent_faults.case import Bound, Found, Size, none_of
from benchmarks.agent_faults.pytorch import python_with_torch, without_torch
from benchmarks.agent_faults.scripts import Place, answer_of
from tests.agent.tracker_double import TOKEN, TrackerDouble

LARGEST_HANDLE_BYTES = 2_048
WAYS = ("pickle", "cloudpickle", "deepcopy")
# Hands each value to each call, of a run that is strict and of one that is not.
LOGGING = """
import json, sys
import agent
from tests.agent.odd_values import NUMBERS, OTHERS, long_text
numbers, others = NUMBERS, {**OTHERS, "a text of 10 MB": long_text}
if sys.argv[1] == "torch":
    from tests.agent.odd_values import of_torch
    numbers, others = of_torch()
values = {**numbers, **others}
raised = {}
calls = {
    "append": lambda run, path, value: run[path].append(value),
    "extend": lambda run, path, value: run[path].extend([value]),
    "log": lambda run, path, value: run.log({path: value}),
    "set": lambda run, path, value: run.__setitem__(path, value),
}
tried = refused = foreign = 0
for strict in (False, True):
    run = agent.init("strict" if strict else "r", monitor=False, strict=strict)
    for words, make in values.items():
        for name, call in calls.items():
            tried += 1
            try:
                call(run, f"{name}/{words}", make())
            except agent.AgentError:
                refused += 1
                raised.setdefault(strict, []).append(f"{name} of {words}")
            except BaseException as error:
                foreign += 1
                raised.setdefault(strict, []).append(f"{name} of {words}: {error!r}")
    run["after"].append(1.0)
    run.finish(timeout=60)
print(json.dumps({"tried": tried, "refused": refused, "foreign": foreign,
                  "raised": raised.get(False, []),
                  "numbers": [f"{name}/{words}" for words in numbers for name in ("append", "extend", "log")]}))
"""
HANDING = """
import base64, copy, json, pickle, sys
import agent
way = sys.argv[1]
run = agent.init("r", monitor=False)
if way == "cloudpickle":
    import cloudpickle
    # As a closure takes it along.
    data = cloudpickle.dumps(lambda: run)
    other = pickle.loads(data)()
elif way == "pickle":
    data = pickle.dumps(run)
    other = pickle.loads(data)
else:
    data = pickle.dumps(run)
    other = copy.deepcopy({"run": run})["run"]
other["here"].append(1.0)
run.finish(timeout=30)
print(json.dumps({"handle": base64.b64encode(data).decode(), "own": len(pickle.dumps(run))}))
"""
HANDED = """
import base64, json, pickle, sys
other = pickle.loads(base64.b64decode(sys.argv[1]))
other = other() if callable(other) else other
for step in range(100): other["there"].append(step, step=step)
other.finish(timeout=1)
print(json.dumps({"ended": True}))
"""


def odd_values(size: Size) -> list[Found]:
    """CF-24: hand every odd value to every call, and real tensors of PyTorch."""
    found = [_odd("odd values", "stand-ins", sys.executable, size)]
    words, python = "tensors of the real PyTorch", python_with_torch()
    found.append(_odd(words, "torch", python, size) if python else without_torch(words))
    return found


def _odd(words: str, kind: str, python: str, size: Size) -> Found:
    tracker = TrackerDouble()
    place = Place(size.folder / f"odd-{kind}", tracker.url)
    tried = foreign = refused = 0
    raised: list[str] = []
    for _ in range(size.amount):
        answer = answer_of(place.perform(LOGGING, kind, python=python))
        tried += answer["tried"]
        foreign += answer["foreign"]
        refused += answer["refused"]
        raised += answer["raised"]
    kept = tracker.values("after")
    # For a strict run and another one.
    unkept = [
        path
        for path in answer["numbers"]
        if len(tracker.values(path)) != 2 * size.amount
    ]
    tracker.stop()
    return Found(
        f"{tried} calls with {words}, half of them of strict runs",
        [
            f"strict runs refused {refused}",
            *(f"raised: {words}" for words in dict.fromkeys(raised)),
            *(f"not kept: {path}" for path in unkept),
        ],
        [
            none_of("exceptions of runs that are not strict", len(raised)),
            none_of("exceptions that are not the agent's", foreign),
            none_of("numbers that are not kept", len(unkept)),
            none_of("lost afterwards", 2 * size.amount - len(kept)),
            Bound("strict runs refuse some", refused > 0),
        ],
    )


def handles(size: Size) -> list[Found]:
    """CF-25: hand a run over, also to a process that has no token."""
    return [
        _handed(way, size)
        for way in WAYS
        if way != "cloudpickle" or find_spec("cloudpickle")
    ]


def _handed(way: str, size: Size) -> Found:
    lost = doubled = codes = tokens = largest = inert = 0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"{way}{number}", tracker.url)
        answer = answer_of(place.perform(HANDING, way))
        largest = max(largest, answer["own"])
        tokens += TOKEN.encode() in base64.b64decode(answer["handle"])
        # It has the address in its handle or its environment, and no token at all.
        without = place.perform(HANDED, answer["handle"], SEAMARK_TOKEN="")
        codes += without.returncode != 0
        inert += len(tracker.values("there"))
        place.sync()
        there = tracker.steps("there")
        lost += 100 - len(set(there)) + 1 - len(tracker.values("here"))
        doubled += len(there) - len(set(there))
        tracker.stop()
    return Found(
        f"a run by {way}, to itself and to a process without a token,"
        f" {size.amount} times; then `sync` with one",
        [f"a handle of {largest:,} bytes"],
        [
            Bound(
                f"handle ≤ {LARGEST_HANDLE_BYTES:,} B", largest <= LARGEST_HANDLE_BYTES
            ),
            none_of("handles with the token", tokens),
            none_of("points sent without a token", inert),
            none_of("other exit codes", codes),
            none_of("lost", lost),
            none_of("doubled", doubled),
        ],
    )
