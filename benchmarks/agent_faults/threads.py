"""CF-19, CF-20: threads of the agent die, and code logs where none expects it."""

from __future__ import annotations

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.scripts import Place, answer_of
from tests.agent.tracker_double import TrackerDouble

# Exceptions that end a turn; and, permanently, those in place of a restart.
ENDS = (("SystemExit", "once"), ("MemoryError", "once"), ("SystemExit", "for good"))
THREADS = 2
# Kills each thread, and times every call until it works again.
DYING = """
import json, logging, sys, threading, time
import agent
kind = getattr(__import__("builtins"), sys.argv[1])
is_for_good = sys.argv[2] == "for good"
warnings = []
class Heard(logging.Handler):
    def emit(self, record): warnings.append(record.getMessage())
logging.getLogger("seamark").addHandler(Heard())
run = agent.init("r", monitor=False)
session = run._session
step, slowest, longest = 0, 0.0, 0.0

def log():
    global step, slowest
    began = time.perf_counter()
    run["a"].append(step, step=step)
    slowest = max(slowest, time.perf_counter() - began)
    step += 1

def wait(condition):
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        log()
        time.sleep(0.001)
    return condition()

threading.excepthook = lambda error: None
for background in (session._writer.background, session._sender.background):
    wait(lambda: background.is_alive)
    first, turn = background._thread, background._turn
    died = []
    def die(seconds=0.0):
        died.append(True)
        raise kind("injected")
    background._turn = die
    if is_for_good: background._wait = die
    background.wake()
    wait(lambda: died and not (is_for_good and first.is_alive()))
    began = time.monotonic()
    turns = []
    def work(turn=turn, turns=turns):
        turns.append(True)
        return turn()
    background._turn = work
    if is_for_good: del background._wait
    wait(lambda: turns)
    longest = max(longest, time.monotonic() - began)
began = time.monotonic()
run.finish(timeout=30)
ended = time.monotonic() - began
print(json.dumps({"count": step, "slowest": slowest, "longest": longest,
                  "ended": ended, "warnings": len(warnings)}))
"""
# Every call may be interrupted by a finalizer, a signal or the collector, which log, too.
REENTRANT = """
import gc, json, logging, signal, sys, agent
run = agent.init("r", monitor=False)

class Dying:
    def __init__(self): self.me = self
    def __del__(self): run["del"].append(1.0)

class Handler(logging.Handler):
    def emit(self, record):
        run["handler"].append(1.0)
        run["handler"].append(object())

logging.getLogger().addHandler(Handler())
gc.callbacks.append(lambda phase, details: run["collector"].append(1.0))
signal.signal(signal.SIGALRM, lambda *_: run["signal"].append(1.0))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
gc.set_threshold(10)
for number in range(int(sys.argv[1])):
    Dying()
    run["loop"].append(float(number), step=number)
    run[f"bad/{number % 100}"].append("text")
    run[f"bad/{number % 100}"].append(None)
signal.setitimer(signal.ITIMER_REAL, 0)
gc.callbacks.clear()
run.finish()
print(json.dumps({"ended": True}))
"""
PLACES = ("del", "handler", "collector", "signal")


def dying(size: Size) -> list[Found]:
    """CF-19: kill the thread that writes and the one that sends."""
    return [_dying(error, how, size) for error, how in ENDS]


def _dying(error: str, how: str, size: Size) -> Found:
    lost = unwarned = 0
    slowest = longest = ended = 0.0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"{error} {how} {number}", tracker.url)
        answer = answer_of(place.perform(DYING, error, how))
        lost += answer["count"] - len(set(tracker.steps("a")))
        unwarned += answer["warnings"] != THREADS
        slowest = max(slowest, answer["slowest"])
        longest = max(longest, answer["longest"])
        ended = max(ended, answer["ended"])
        tracker.stop()
    return Found(
        f"the writing and the sending thread end by {error}, {how}: {size.amount} times",
        [
            f"a call took {1e3 * slowest:.1f} ms at most; {longest:.1f} s at most until"
            f" it works again; the end {ended:.1f} s"
        ],
        [
            none_of("lost", lost),
            none_of("not warned of once a thread", unwarned),
            at_most("until it works again", longest, 5, "s"),
            at_most("the end", ended, 5, "s"),
        ],
    )


def reentrant(size: Size) -> list[Found]:
    """CF-20: log from finalizers, signals, logging handlers and the collector."""
    tracker = TrackerDouble()
    place = Place(size.folder / "reentrant", tracker.url, SEAMARK_EXIT_SECONDS="120")
    done = place.perform(REENTRANT, str(size.amount))
    place.sync()
    steps = tracker.steps("loop")
    counts = {path: len(tracker.values(path)) for path in PLACES}
    tracker.stop()
    within = ", ".join(f"{count:,} from {path}" for path, count in counts.items())
    return [
        Found(
            f"{size.amount:,} turns with forced collection, a signal each millisecond",
            [f"points {within}"],
            [
                none_of("hangs and other exit codes", done.returncode != 0),
                none_of("lost", size.amount - len(set(steps))),
                none_of("doubled", len(steps) - len(set(steps))),
                none_of(
                    "places that logged nothing", sum(not n for n in counts.values())
                ),
            ],
        )
    ]
