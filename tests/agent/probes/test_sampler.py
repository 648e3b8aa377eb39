from __future__ import annotations

import logging
import re
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

import agent
from seamark.lifecycle import background
from seamark.probes import PROBES, documentation, sampler, scheduled_probe
from seamark.probes.listing import probe_classes
from seamark.probes.logbook import Logbook
from seamark.probes.probe import Job, Probe, ProbeUnavailable
from seamark.probes.reading import Reading, Scope
from seamark.probes.sampler import Sampler
from seamark.probes.scheduled_probe import ScheduledProbe
from seamark.queue.rows import Row, read_row
from seamark.recording.attributes import Recorder
from seamark.user_warnings import Notices
from tests.agent.conftest import REPOSITORY, wait_until


def make_probe(said=None, **more):
    """Return a class of probes with the given sample; by default they fail."""

    class TestProbe(Probe):
        name = "test"
        asked = 0
        allowance = 1.0

        def facts(self):
            return {"facts/name": "x\ud800"}

        def sample(self, now):
            type(self).asked += 1
            if said is None:
                raise OSError("gone")
            return said() if callable(said) else said

    for name, value in more.items():
        setattr(TestProbe, name, value)
    return TestProbe


class Taken(NamedTuple):
    facts: dict[str, object]
    rows: list[Row]

    def values(self, path):
        return [
            struct.unpack_from("<d", row.values, 8 * row.paths.index(path))[0]
            for row in self.rows
            if path in row.paths
        ]


class Bench:
    """A sampler with given probes, and its logged values."""

    def __init__(self, *probes, interval=1.0, job=None):
        self.interval = interval
        self.recorder = Recorder(Notices(), wake=lambda: False, strict=False)
        self.recorder.begin(None)
        self.sampler = Sampler(
            "m",
            self.recorder,
            Notices(),
            agent_cpu_seconds=lambda: 0.5,
            interval=interval,
            job=job,
            probes=lambda: list(probes),
        )
        self.facts = {}

    def turn(self, times=1):
        for _ in range(times - 1):
            self.sampler.turn()
            time.sleep(self.interval)
        self.sampler.turn()
        return self.take()

    def take(self):
        layouts = self.recorder.layouts.by_number
        changes = self.recorder.buffer.take_changes()
        self.facts.update({c.path: c.value for c in changes})
        rows = self.recorder.buffer.take_rows(2**20)
        return Taken(self.facts, [read_row(r, 0, layouts) for r in rows])

    def stop(self):
        self.sampler.stop(1.0)


@pytest.fixture
def bench():
    made = []

    def make(*probes, **options):
        made.append(Bench(*probes, **options))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def test_readings_are_numbered_by_interval(bench):
    taken = bench(make_probe({"cpu": 1.0})).turn()

    assert taken.facts["m/facts/name"] == "x?"
    assert taken.facts["m/facts/framework"] == "plain"
    assert taken.facts["m/facts/probes/test"] == "measured"
    assert taken.values("m/cpu") == [1.0]
    assert taken.values("m/agent/cpu_seconds") == [0.5]
    assert {row.step for row in taken.rows} == {0.0}


def test_what_was_logged_is_described(bench):
    reading = Reading("gpu/<i>/heat", "°C", Scope.GPU, "its sensor", 0.8)
    probe = make_probe({"gpu/0/heat": 1.0, "gpu/1/heat": 2.0}, readings=(reading,))

    taken = bench(probe).turn()

    lines = taken.facts["m/facts/readings"].splitlines()
    assert "gpu/<i>/heat\t°C\tGPU\t0.8\tits sensor" in lines
    assert "agent/cpu_seconds\ts\tagent's threads\t1\tits clocks" in lines
    assert len(lines) == len(set(lines))


def test_of_several_sources_the_one_that_was_chosen_is_described(bench):
    readings = [Reading("a", "s", Scope.HOST, name, 1.0) for name in ("one", "two")]
    chosen = property(lambda self: {"a": "two"})

    taken = bench(make_probe({"a": 1.0}, readings=readings, chosen=chosen)).turn()

    assert "a\ts\thost\t1\ttwo" in taken.facts["m/facts/readings"].splitlines()


def test_a_probe_that_fails_is_told_once_and_left_alone(bench, caplog):
    failing, fine = make_probe(None), make_probe({"cpu": 1.0})

    taken = bench(failing, fine, interval=0.01).turn(3)

    assert taken.values("m/cpu") == [1.0, 1.0, 1.0]
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert failing.asked == 1


def test_a_probe_that_keeps_failing_is_made_anew(bench, monkeypatch):
    monkeypatch.setattr(scheduled_probe, "_FAILED_INTERVAL_SECONDS", 0.0)
    closed = []
    failing = make_probe(None, close=lambda self: closed.append(self))  # noqa: PLW0108

    bench(failing, interval=0.01).turn(6)

    assert len(closed) == 2


def test_a_probe_is_closed_once_however_often_its_end_is_asked_for():
    closed = []
    make = make_probe({"gpu/0/a": 1.0}, close=lambda self: closed.append(self))  # noqa: PLW0108
    recorder = Recorder(Notices(), wake=lambda: False, strict=False)
    logbook = Logbook("m", recorder, 1.0, describes_at="facts/readings")
    probe = ScheduledProbe(make, Job(), logbook, Notices())
    probe.take(time.monotonic(), 0)

    for _ in range(3):
        probe.close()

    assert len(closed) == 1


class Driver:
    """Answers while it is there; `made` has the jobs of the probes that were made."""

    def __init__(self, reason):
        self.is_there, self.made, self.tried, self.reason = True, [], 0, reason

    def probe(self):
        driver = self

        @classmethod
        def of(cls, job):
            driver.tried += 1
            if not driver.is_there:
                raise ProbeUnavailable(driver.reason)
            driver.made.append(job)
            return cls()

        def answer():
            if not driver.is_there:
                raise OSError("gone")
            return {"cpu": 1.0}

        return make_probe(answer, of=of)


def test_a_driver_that_goes_away_is_tried_again_until_it_is_back(bench, monkeypatch):
    monkeypatch.setattr(scheduled_probe, "_FAILED_INTERVAL_SECONDS", 0.0)
    driver = Driver("no driver")
    tested = bench(driver.probe(), interval=0.01)
    tested.turn()
    driver.is_there = False
    state = tested.turn(6).facts["m/facts/probes/test"]
    driver.is_there = True

    back = tested.turn(3)

    assert state == "fails: no driver"
    assert back.facts["m/facts/probes/test"] == "measured"
    assert back.values("m/cpu")
    # Its counters since the start of the agent continue.
    assert len(driver.made) == 2
    assert driver.made[0].kept is driver.made[1].kept is not None


def test_a_process_that_has_ended_is_not_looked_for_again(bench, monkeypatch):
    monkeypatch.setattr(scheduled_probe, "_FAILED_INTERVAL_SECONDS", 0.0)
    driver = Driver(reason="")
    tested = bench(driver.probe(), interval=0.01)
    tested.turn()
    driver.is_there = False

    tested.turn(8)

    assert driver.tried == 2


def test_what_is_not_here_is_said_once_as_information(bench, caplog):
    caplog.set_level(logging.INFO, "seamark")

    @classmethod
    def refuse(cls, job):
        raise ProbeUnavailable("no such thing")

    taken = bench(make_probe({}, of=refuse)).turn(3)

    assert taken.facts["m/facts/probes/test"] == "not here: no such thing"
    assert [r.levelname for r in caplog.records] == ["INFO"]


def test_a_probe_that_costs_too_much_is_asked_less_often(bench):
    def work():
        end = time.thread_time() + 0.002
        while time.thread_time() < end:
            pass
        return {"cpu": 1.0}

    costly = make_probe(work, allowance=0.0005)
    tested = bench(costly, interval=0.001)

    tested.turn(60)

    # The first turns measure the cost; after them the interval is 4 s.
    assert 2 <= costly.asked <= 4


def test_a_probe_is_asked_no_more_often_than_it_says(bench):
    slow = make_probe({"slow": 1.0}, interval_seconds=60.0)
    other = make_probe({"other": 1.0}, name="other")
    tested = bench(slow, other, interval=0.001)

    tested.turn(10)

    assert (slow.asked, other.asked) == (1, 10)


def test_a_probe_that_hangs_leaves_the_others(bench, monkeypatch, caplog):
    monkeypatch.setattr(scheduled_probe, "HANGING_SECONDS", 0.05)
    done = threading.Event()

    def hang():
        done.wait(60)
        return {"late": 1.0}

    hanging = make_probe(hang, name="hanging", may_hang=True)
    fine = make_probe({"cpu": 1.0}, name="fine")
    tested = bench(hanging, fine, interval=0.01)
    tested.turn()
    wait_until(lambda: hanging.asked == 1)
    time.sleep(0.1)

    began = time.monotonic()
    taken = tested.turn(3)
    took = time.monotonic() - began
    state = taken.facts["m/facts/probes/hanging"]
    done.set()
    wait_until(lambda: "m/late" in {p for r in tested.take().rows for p in r.paths})

    assert took < 30
    assert len(taken.values("m/cpu")) >= 3
    assert state == "does not answer"
    assert taken.facts["m/facts/probes/fine"] == "measured"
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    wait_until(lambda: tested.take().facts["m/facts/probes/hanging"] == "measured")


def test_the_end_of_a_run_does_not_wait_for_a_probe_that_hangs(bench):
    done = threading.Event()
    hanging = make_probe(lambda: {"late": float(done.wait(60))}, may_hang=True)
    tested = bench(hanging)
    tested.turn()
    wait_until(lambda: hanging.asked == 1)

    began = time.monotonic()
    tested.sampler.stop(60.0)
    took = time.monotonic() - began
    done.set()

    assert took < 30


def test_nothing_is_logged_of_a_run_that_has_ended(bench):
    tested = bench(make_probe({"cpu": 1.0}))
    tested.turn()
    tested.recorder.end()

    assert tested.turn().rows == []


def test_the_agents_own_cost_is_logged(bench):
    tested = bench(make_probe({"cpu": 1.0}))
    tested.turn()
    time.sleep(0.3)

    taken = tested.turn()

    assert taken.values("m/agent/cpu_share") == [0.0]
    assert len(taken.values("m/agent/tick_late_seconds")) == 1
    assert len(taken.values("m/agent/probes/test_seconds")) <= 1


def test_a_real_run_logs_only_paths_the_documentation_lists(tracker):
    run = agent.init("r", stage="train")
    wait_until(lambda: len(tracker.values("monitoring/train/job/cpu_cores")) >= 1)
    run.finish()

    written = {m["path"] for m in tracker.messages() if "path" in m}
    written |= {path for m in tracker.of_kind("points") for path in m["paths"]}
    page = (REPOSITORY / Path("docs/monitoring.md")).read_text("utf-8")
    listed = set(re.findall(r"`([a-z_]+/[a-z_/<>0-9]+)`", page))
    plain = {re.sub(r"gpu/\d+/", "gpu/<i>/", p.split("/", 2)[2]) for p in written}
    plain = {re.sub(r"job/worker/\d+/", "job/worker/<n>/", p) for p in plain}
    plain = {re.sub(r"(?<=/probes/)[a-z_]+?(?=_seconds|$)", "<name>", p) for p in plain}
    assert plain <= listed
    assert {
        "host/cpu_percent",
        "job/workers",
        "facts/effective_cores",
        "agent/cpu_seconds",
    } <= plain


def test_the_page_is_what_the_probes_say():
    page = (REPOSITORY / "docs/monitoring.md").read_text("utf-8")

    assert documentation.rewritten(page) == page


def test_a_probe_is_one_file_and_one_line():
    folder = REPOSITORY / "agent" / "probes"
    probes = {
        ".".join(file.relative_to(folder).with_suffix("").parts)
        for file in folder.rglob("*.py")
        if re.search(r"^class \w+\(Probe\):", file.read_text("utf-8"), re.M)
    }

    assert probes == {module for module, _ in PROBES}


def test_no_path_is_described_twice_by_the_same_source():
    for probe in probe_classes():
        keys = [(reading.path, reading.source) for reading in probe.readings]
        assert len(keys) == len(set(keys))
        assert all(0 < reading.quality <= 1 for reading in probe.readings)


def test_a_driver_that_takes_its_time_keeps_no_process_from_forking(bench):
    waiting, done = threading.Event(), threading.Event()

    @classmethod
    def slow(cls, job):
        waiting.set()
        assert done.wait(60)
        return cls()

    bench(make_probe({}, of=slow, may_hang=True)).turn()
    assert waiting.wait(60)

    is_free = background._importing.acquire(timeout=10)

    assert is_free
    background._importing.release()
    done.set()


def test_what_belongs_to_the_machine_is_measured_by_its_first_rank(bench):
    machine = make_probe({"m": 1.0}, is_of_machine=True)
    own = make_probe({"o": 1.0})

    taken = bench(machine, own, job=Job(local_rank=1)).turn()

    assert taken.values("m/o") == [1.0]
    assert machine.asked == 0


def test_the_interval_is_a_setting(tracker, monkeypatch):
    assert sampler.INTERVAL_SECONDS == 1.0
    monkeypatch.setenv("SEAMARK_SAMPLE_SECONDS", "0.5")

    assert agent.init("r", mode="disabled").settings.sample_seconds == 0.5


def of_machine(**more):
    return make_probe({"machine": 1.0}, is_of_machine=True, **more)


def test_what_belongs_to_the_machine_is_asked_half_an_interval_later(bench):
    ours, machines = make_probe({"job": 1.0}), of_machine()
    made = bench(ours, machines, interval=0.8)
    asked = []
    for _ in range(5):
        seconds = made.sampler.turn()
        asked.append((ours.asked, machines.asked))
        time.sleep(seconds)

    # All of it at first, then the job and the machine in turns.
    assert asked == [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]
    rows = made.take().rows
    for path in ("m/job", "m/machine"):
        assert [row.step for row in rows if path in row.paths] == [0, 1, 2]


def test_the_second_half_comes_although_the_first_one_took_too_long(bench):
    slow = make_probe(lambda: time.sleep(0.15) or {"job": 1.0})
    machines = of_machine()
    made = bench(slow, machines, interval=0.1)

    for _ in range(6):
        time.sleep(made.sampler.turn())

    assert machines.asked >= 3


def test_the_end_of_a_run_samples_both_halves(bench):
    ours, machines = make_probe({"job": 1.0}), of_machine()
    made = bench(ours, machines, interval=0.4)
    made.sampler.turn()
    time.sleep(0.25)

    made.sampler.stop(1.0)
    made.sampler.turn()

    assert (ours.asked, machines.asked) == (2, 2)


def test_a_half_that_fails_leaves_the_next_turn_to_the_job(bench, monkeypatch):
    ours, machines = make_probe({"job": 1.0}), of_machine()
    made = bench(ours, machines, interval=0.1)
    take = scheduled_probe.ScheduledProbe.take

    def fail(one, now, number):
        take(one, now, number)
        if made.sampler._number > 0 and one in made.sampler._scheduled_later:
            raise KeyError("no such layout")

    monkeypatch.setattr(scheduled_probe.ScheduledProbe, "take", fail)
    for _ in range(6):
        with suppress(KeyError):
            made.sampler.turn()
        time.sleep(0.06)

    assert ours.asked >= 3


def test_a_moment_that_is_quiet_lies_between_the_halves(bench):
    made = bench(make_probe({"job": 1.0}), of_machine())
    made.sampler.turn()

    sampler = made.sampler
    assert sampler.quiet_moment - sampler._next_tick == pytest.approx(0.25)


def test_a_process_that_leaves_the_machine_to_another_has_no_second_half(bench):
    ours, machines = make_probe({"job": 1.0}), of_machine()
    made = bench(ours, machines, job=Job(local_rank=3))
    made.sampler.turn()

    assert made.sampler.turn() > 0.6
    assert (ours.asked, machines.asked) == (1, 0)
