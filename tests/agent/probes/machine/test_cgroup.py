from __future__ import annotations

import os

import psutil
import pytest

from seamark.probes.machine.cgroup import CgroupProbe
from seamark.probes.probe import ProbeUnavailable

GIB = 2**30


@pytest.fixture
def make(tmp_path):
    def build(membership, files):
        root = tmp_path / "cgroup"
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        group = tmp_path / "proc" / "self" / "cgroup"
        group.parent.mkdir(parents=True, exist_ok=True)
        group.write_text(membership)
        return CgroupProbe(root=root, processes=tmp_path / "proc"), root

    return build


# The kernel counts effects of a limit in the group with the limit, not in its children.
V2 = {
    "cgroup.controllers": "cpu memory",
    "cpu.max": "max 100000",
    "job/cpu.max": "50000 100000",
    "job/cpu.stat": "usage_usec 90\nnr_periods 100\nnr_throttled 10\n",
    "job/inner/cpu.max": "max 100000",
    "job/inner/cpu.stat": "usage_usec 5\nnr_periods 0\nnr_throttled 0\n",
    "job/memory.max": str(GIB),
    "job/memory.current": "3000",
    "job/memory.stat": "anon 1\nfile 1500\ninactive_file 1000\n",
    "job/memory.high": "900",
    "job/memory.peak": "4000",
    "job/memory.swap.current": "700",
    "job/memory.swap.max": "0",
    "job/memory.events": "low 0\nhigh 0\nmax 4\noom 0\noom_kill 1\n",
    "job/inner/memory.max": "max",
    "job/inner/memory.current": "30",
    "job/inner/memory.stat": "anon 1\nfile 15\ninactive_file 10\n",
    "job/inner/memory.high": "max",
    "job/inner/memory.peak": "40",
    "job/inner/memory.swap.current": "7",
    "job/inner/memory.swap.max": "max",
    "job/inner/memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n",
    "job/inner/cpuset.mems.effective": "0-1",
}
UNLIMITED = "9223372036854771712"
V1 = {
    "cpu/job/cpu.cfs_quota_us": "50000",
    "cpu/job/cpu.cfs_period_us": "100000",
    "cpu/job/cpu.stat": "nr_periods 100\nnr_throttled 10\nthrottled_time 5\n",
    "cpu/job/inner/cpu.cfs_quota_us": "-1",
    "cpu/job/inner/cpu.cfs_period_us": "100000",
    "cpu/job/inner/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
    "cpuset/job/inner/cpuset.cpus": "0-1,7",
    "cpuset/job/inner/cpuset.effective_mems": "0-1",
    "cpuset/job/inner/cpuset.mems": "",
    "cpuacct/job/inner/cpuacct.stat": "user 0\nsystem 0\n",
    "cpuacct/job/inner/cpuacct.usage": "5000",
    "memory/memory.limit_in_bytes": UNLIMITED,
    "memory/job/memory.limit_in_bytes": str(GIB),
    "memory/job/memory.usage_in_bytes": "3000",
    "memory/job/memory.max_usage_in_bytes": "4000",
    "memory/job/memory.stat": "total_cache 1500\ntotal_swap 700\ntotal_inactive_file 1000\n",
    "memory/job/memory.failcnt": "4",
    # Kills are counted only in the group of the killed process.
    "memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    "memory/job/inner/memory.limit_in_bytes": UNLIMITED,
    "memory/job/inner/memory.usage_in_bytes": "30",
    "memory/job/inner/memory.max_usage_in_bytes": "40",
    "memory/job/inner/memory.stat": "total_cache 15\ntotal_inactive_file 10\n",
    "memory/job/inner/memory.failcnt": "0",
    "memory/job/inner/memory.oom_control": "under_oom 0\noom_kill 1\n",
}
IN_V2 = "0::/job/inner\n"
IN_V1 = "4:memory:/job/inner\n3:cpuset:/job/inner\n2:cpu,cpuacct:/job/inner\n"
CASES = pytest.mark.parametrize(
    ("membership", "files"),
    [(IN_V2, V2), (IN_V1, V1)],
    ids=["version 2", "version 1"],
)


def write(root, name, content):
    """Write a file of the version that there is."""
    for path in (root / name, root / "cpu" / name, root / "memory" / name):
        if path.exists():
            path.write_text(content)


@CASES
def test_the_tightest_limit_on_the_way_up_counts(make, membership, files):
    probe, _ = make(membership, files)

    assert (
        probe.facts().items()
        >= {
            "facts/effective_cores": 0.5,
            "facts/cpu_quota_cores": 0.5,
            "facts/memory_limit_bytes": GIB,
            "facts/allowed_memory_nodes": "0-1",
        }.items()
    )


def test_memory_that_ran_out_is_counted_though_nobody_was_killed(make):
    unified, root = make(IN_V2, V2)
    first = unified.sample(0.0)
    events = root / "job/memory.events"
    events.write_text(events.read_text().replace("oom 0", "oom 2"))

    later = unified.sample(1.0)

    assert (first["cgroup/oom_hits"], later["cgroup/oom_hits"]) == (0, 2)
    assert later["cgroup/oom_kills"] == 0


def test_only_version_2_slows_who_takes_too_much(make):
    unified, root = make(IN_V2, V2)
    first = unified.sample(0.0)
    events = root / "job/memory.events"
    events.write_text(events.read_text().replace("high 0", "high 3"))

    later = unified.sample(1.0)

    assert unified.facts()["facts/memory_throttle_bytes"] == 900
    assert first["cgroup/memory_throttle_hits"] == 0
    assert later["cgroup/memory_throttle_hits"] == 3


def test_version_1_has_no_such_limit(make):
    probe, _ = make(IN_V1, V1)

    assert "facts/memory_throttle_bytes" not in probe.facts()
    assert "cgroup/memory_throttle_hits" not in probe.sample(0.0)


@CASES
def test_the_most_memory_is_told_now_and_then(make, membership, files):
    probe, _ = make(membership, files)

    first, second, third = (probe.sample(float(now)) for now in (0, 1, 10))

    assert first["cgroup/memory_peak_bytes"] == 4000
    assert "cgroup/memory_peak_bytes" not in second
    assert "cgroup/memory_peak_bytes" in third


@CASES
def test_swap_is_told_now_and_then(make, membership, files):
    probe, _ = make(membership, files)

    first, second, third = (probe.sample(float(now)) for now in (0, 1, 10))

    assert first["cgroup/swap_used_bytes"] == third["cgroup/swap_used_bytes"] == 700
    assert "cgroup/swap_used_bytes" not in second


def test_a_container_that_may_not_swap_has_a_limit_of_0(make):
    probe, _ = make(IN_V2, V2)

    assert probe.facts()["facts/swap_limit_bytes"] == 0


@CASES
def test_time_in_programs_and_in_the_kernel_are_told_apart(make, membership, files):
    probe, root = make(membership, files)
    write(root, "job/inner/cpu.stat", "user_usec 0\nsystem_usec 0\n")
    probe.sample(0.0)

    write(root, "job/inner/cpu.stat", "user_usec 1000000\nsystem_usec 500000\n")
    ticks = os.sysconf("SC_CLK_TCK")
    accounted = root / "cpuacct/job/inner/cpuacct.stat"
    if accounted.exists():
        accounted.write_text(f"user {ticks}\nsystem {ticks // 2}\n")
    sample = probe.sample(2.0)

    assert sample["cgroup/cpu_user_cores"] == 0.5
    assert sample["cgroup/cpu_system_cores"] == 0.25


@CASES
def test_the_page_cache_that_can_go_is_not_used_memory(make, membership, files):
    probe, _ = make(membership, files)

    assert probe.sample(0.0)["cgroup/memory_used_bytes"] == 2000


@CASES
def test_throttling_is_the_share_of_new_periods(make, membership, files):
    probe, root = make(membership, files)
    assert "cgroup/throttled_share" not in probe.sample(0.0)

    write(root, "job/cpu.stat", "nr_periods 110\nnr_throttled 15\n")

    assert probe.sample(1.0)["cgroup/throttled_share"] == 0.5
    assert "cgroup/throttled_share" not in probe.sample(2.0)


def test_what_is_not_limited_is_what_the_machine_has(make):
    probe, _ = make("0::/\n", {"cgroup.controllers": "", "memory.max": "max"})

    assert probe.facts() == {
        "facts/effective_cores": float(len(os.sched_getaffinity(0))),
        "facts/memory_limit_bytes": psutil.virtual_memory().total,
    }
    assert probe.sample(0.0) == {}


@pytest.mark.parametrize("path", ["/../../etc", "/absent"])
def test_a_group_that_cannot_be_seen_is_the_visible_root(make, path):
    probe, _ = make(f"0::{path}\n", {**V2, "cpu.max": "10000 100000"})

    assert probe.facts()["facts/effective_cores"] == 0.1


def test_no_groups_are_said_to_be_absent(make):
    with pytest.raises(ProbeUnavailable):
        make("", {})


@CASES
def test_use_and_time_stopped_are_per_second(make, membership, files):
    probe, root = make(membership, files)
    probe.sample(0.0)

    write(root, "job/inner/cpu.stat", "usage_usec 1000005\nnr_periods 0\n")
    stopped = "nr_periods 110\nthrottled_usec 500000\nthrottled_time 500000005\n"
    write(root, "job/cpu.stat", stopped)
    usage = root / "cpuacct/job/inner/cpuacct.usage"
    if usage.exists():
        usage.write_text("1000005000")
    first, second = probe.sample(2.0), probe.sample(3.0)

    assert first["cgroup/cpu_cores"] == pytest.approx(0.5)
    assert second["cgroup/throttled_seconds_per_second"] == 0
    assert second["cgroup/cpu_cores"] == 0


@CASES
def test_kills_and_limits_met_count_from_the_agents_beginning(make, membership, files):
    probe, root = make(membership, files)
    first = probe.sample(0.0)

    for path in root.rglob("memory.*"):
        text = path.read_text().replace("max 4", "max 6").replace("kill 1", "kill 2")
        path.write_text("6" if path.name == "memory.failcnt" else text)
    second = probe.sample(1.0)

    assert first["cgroup/oom_kills"] == first["cgroup/memory_limit_hits"] == 0
    assert first["cgroup/page_cache_bytes"] == 1500
    assert second["cgroup/oom_kills"] == 1
    assert second["cgroup/memory_limit_hits"] == 2


def test_a_limit_that_an_inner_group_has_too_is_met_by_the_outer_first(make):
    probe, _ = make(IN_V2, {**V2, "job/inner/memory.max": str(GIB)})

    assert probe.sample(0.0)["cgroup/memory_used_bytes"] == 2000


def test_without_limits_the_innermost_group_is_the_container(make):
    unlimited = {**V2, "job/memory.max": "max", "job/memory.high": "max"}
    probe, _ = make(IN_V2, unlimited)

    assert probe.sample(0.0)["cgroup/memory_used_bytes"] == 20


def test_who_is_slowed_by_another_group_than_that_of_the_limit_is_told(make):
    files = {
        **V2,
        "memory.high": "800",
        "memory.events": "high 2\nmax 9\noom_kill 9\n",
    }
    probe, root = make(IN_V2, files)
    probe.sample(0.0)
    (root / "memory.events").write_text("high 5\nmax 11\noom_kill 9\n")

    sample = probe.sample(1.0)

    assert probe.facts()["facts/memory_throttle_bytes"] == 800
    assert sample["cgroup/memory_throttle_hits"] == 3
    assert sample["cgroup/memory_limit_hits"] == 0


@CASES
def test_limits_that_are_changed_are_told_within_half_a_minute(make, membership, files):
    probe, root = make(membership, files)
    probe.sample(0.0)
    write(root, "job/cpu.max", "25000 100000")
    write(root, "job/cpu.cfs_quota_us", "25000")
    write(root, "job/memory.max", str(GIB // 2))
    write(root, "job/memory.limit_in_bytes", str(GIB // 2))

    probe.sample(29.0)
    early = probe.news()
    probe.sample(30.0)

    assert early == {}
    facts = probe.news()
    assert facts["facts/effective_cores"] == facts["facts/cpu_quota_cores"] == 0.25
    assert facts["facts/memory_limit_bytes"] == GIB // 2
    assert probe.news() == {}


def test_a_quota_that_was_taken_away_is_that_of_the_host(make):
    probe, root = make(IN_V2, V2)
    probe.sample(0.0)
    write(root, "job/cpu.max", "max 100000")
    probe.sample(30.0)

    news = probe.news()

    assert news["facts/cpu_quota_cores"] == os.cpu_count()
    assert news["facts/effective_cores"] == len(os.sched_getaffinity(0))


def test_counts_go_on_where_another_group_has_the_tightest_limit(make):
    probe, root = make(IN_V2, V2)
    probe.sample(0.0)
    write(root, "job/memory.events", "max 6\noom_kill 1\n")
    probe.sample(1.0)
    write(root, "job/inner/memory.max", "2000")
    write(root, "job/inner/cpu.max", "10000 100000")
    write(root, "job/inner/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 9\n")
    write(root, "job/inner/memory.events", "max 70\noom_kill 70\n")
    at_once = probe.sample(31.0)
    write(root, "job/inner/memory.events", "max 71\noom_kill 70\n")

    later = probe.sample(32.0)

    assert at_once["cgroup/memory_limit_hits"] == 2
    assert "cgroup/throttled_share" not in at_once
    assert "cgroup/throttled_seconds_per_second" not in at_once
    assert later["cgroup/memory_limit_hits"] == 3
    assert later["cgroup/oom_kills"] == 0
    assert later["cgroup/memory_used_bytes"] == 20
