"""CF-05: calls of a form, and of series, that are made for the first time; and a flood."""

from __future__ import annotations

import statistics
from dataclasses import replace

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.scripts import Place, answer_of

# Goals in ms: the cost per step that is acceptable once, and for any call.
MEDIAN_MILLISECONDS, LONGEST_MILLISECONDS = 1.0, 5.0
FLOOD_MEBIBYTES = 20
NEW_SERIES = 1_000
FLOOD_POINTS = 1_000_000
# Each in its own process, because one form's initialization would serve the next.
FORMS = {
    "log, 20 metrics": "run.log({f'{n}/a': 0.5 for n in range(20)}, step=step)",
    "append": "run['a'].append(0.5, step=step)",
    "append, a text": "run['a'].append('text', step=step)",
    "append, a histogram": "run['a'].append(agent.Histogram([1.0, 2.0]), step=step)",
    "extend": "run['a'].extend([0.5, 0.25], steps=[step, step + 1])",
    "an assigned value": "run['a'] = step",
    "nested values": "run['a'] = {'b': {'c': step, 'd': 'text'}, 'e': [1, 2]}",
    "a note": "run.note('text', step=step)",
    "a tag": "run.add_tags(f'tag{step}')",
    "a phase": "with run.phase('forward'): pass",
    f"log, {NEW_SERIES:,} new series": (
        f"run.log({{f'{{n}}/{{step}}': 0.5 for n in range({NEW_SERIES})}}, step=step)"
    ),
}
# For many series the goal applies to each series, and the step limit to the call.
OF_MANY = {f"log, {NEW_SERIES:,} new series": 25.0}
SCRIPT = """
import json, sys, time
import agent
run = agent.init("r", monitor=False)
call = compile(sys.argv[1], "call", "exec")
# Everything that init() has begun in the background is done.
time.sleep(1.0)
times = []
for step in range(2):
    began = time.perf_counter()
    exec(call)
    times.append(1_000 * (time.perf_counter() - began))
    time.sleep(0.1)
print(json.dumps(times))
"""
FLOOD = f"""
import json, time
import agent
def memory():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
run = agent.init("r", monitor=False)
data = {{f"m/{{number}}": 0.5 for number in range(20)}}
run.log(data, step=0)
time.sleep(1.0)
before, began = memory(), time.perf_counter()
for step in range({FLOOD_POINTS} // 20): run.log(data, step=step + 1)
seconds = time.perf_counter() - began
while not run._session.is_all_written: time.sleep(0.01)
print(json.dumps({{
    "more": (memory() - before) / 1024,
    "seconds": seconds,
    "dropped": run._recorder.buffer.take_dropped(),
}}))
"""


def first_calls(size: Size) -> list[Found]:
    """Time the first and the second call of each form in new processes."""
    return [_of_form(name, call, size) for name, call in FORMS.items()]


def flood(size: Size) -> list[Found]:
    """Log a million points as fast as Python can, in so many processes."""
    place = _offline(size, "flood")
    answers = [answer_of(place.perform(FLOOD)) for _ in range(size.amount)]
    more = [answer["more"] for answer in answers]
    fastest = min(answer["seconds"] for answer in answers)
    return [
        Found(
            f"{FLOOD_POINTS:,} points, 20 a call, in {size.amount} processes",
            [
                f"{statistics.median(more):.1f} MiB more at the median,"
                f" {max(more):.1f} at most",
                f"{1e6 * fastest / FLOOD_POINTS:.2f} µs a point",
            ],
            [
                # It depends on the writer thread's wait for a core.
                replace(
                    at_most("memory", max(more), FLOOD_MEBIBYTES, "MiB more"),
                    is_pace=True,
                ),
                none_of("dropped", sum(answer["dropped"] for answer in answers)),
            ],
        )
    ]


def _of_form(name: str, call: str, size: Size) -> Found:
    place = _offline(size, "cold")
    times = [answer_of(place.perform(SCRIPT, call)) for _ in range(size.amount)]
    first, second = zip(*times, strict=True)
    most = OF_MANY.get(name, MEDIAN_MILLISECONDS)
    middle, longest = statistics.median(first), max(first)
    return Found(
        f"{name}, in {size.amount} processes",
        [
            f"the first call {middle:.2f} ms at the median, {longest:.2f} at most",
            f"the second {statistics.median(second):.2f}",
        ],
        [
            at_most("median", middle, most, "ms"),
            at_most("longest", longest, max(most, LONGEST_MILLISECONDS), "ms"),
        ],
    )


def _offline(size: Size, name: str) -> Place:
    return Place(size.folder / name, "http://127.0.0.1:9", SEAMARK_MODE="offline")
