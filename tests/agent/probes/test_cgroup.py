from __future__ import annotations

import os

import psutil
import pytest

from agent.probes.cgroup import CgroupProbe
from agent.probes.probe import ProbeUnavailable

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


V2 = {
    "cgroup.controllers": "cpu memory",
    "cpu.max": "max 100000",
    "job/cpu.max": "50000 100000",
    "job/inner/cpu.max": "max 100000",
    "job/inner/cpu.stat": "usage_usec 5\nnr_periods 100\nnr_throttled 10\n",
    "job/memory.max": str(GIB),
    "job/inner/memory.max": "max",
    "job/inner/memory.current": "3000",
    "job/inner/memory.stat": "anon 1\nfile 1500\ninactive_file 1000\n",
    "job/inner/memory.high": "max",
    "job/memory.high": "900",
    "job/inner/memory.peak": "4000",
    "job/inner/cpuset.mems.effective": "0-1",
    "job/inner/memory.events": "low 0\nhigh 0\nmax 4\noom 0\noom_kill 1\n",
}
V1 = {
    "cpu/job/cpu.cfs_quota_us": "50000",
    "cpu/job/cpu.cfs_period_us": "100000",
    "cpu/job/cpu.stat": "nr_periods 100\nnr_throttled 10\nthrottled_time 5\n",
    "cpuset/job/cpuset.cpus": "0-1,7",
    "cpuset/job/cpuset.effective_mems": "0-1",
    "cpuset/job/cpuset.mems": "",
    "memory/job/memory.max_usage_in_bytes": "4000",
    "cpuacct/job/cpuacct.stat": "user 0\nsystem 0\n",
    "memory/job/memory.limit_in_bytes": str(GIB),
    "memory/memory.limit_in_bytes": "9223372036854771712",
    "memory/job/memory.usage_in_bytes": "3000",
    "memory/job/memory.stat": "total_cache 1500\ntotal_inactive_file 1000\n",
    "memory/job/memory.failcnt": "4",
    "memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    "cpuacct/job/cpuacct.usage": "5000",
}
CASES = pytest.mark.parametrize(
    ("membership", "files", "statistics"),
    [
        ("0::/job/inner\n", V2, "job/inner/cpu.stat"),
        ("4:memory:/job\n3:cpuset:/job\n2:cpu,cpuacct:/job\n", V1, "cpu/job/cpu.stat"),
    ],
    ids=["version 2", "version 1"],
)


@CASES
def test_the_tightest_limit_on_the_way_up_counts(make, membership, files, statistics):
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


def test_only_version_2_slows_who_takes_too_much(make):
    unified, root = make("0::/job/inner\n", V2)
    first = unified.sample(0.0)
    events = root / "job/inner/memory.events"
    events.write_text(events.read_text().replace("high 0", "high 3"))

    later = unified.sample(1.0)

    assert unified.facts()["facts/memory_throttle_bytes"] == 900
    assert first["cgroup/memory_throttle_hits"] == 0
    assert later["cgroup/memory_throttle_hits"] == 3


def test_version_1_has_no_such_limit(make):
    probe, _ = make("4:memory:/job\n3:cpuset:/job\n2:cpu,cpuacct:/job\n", V1)

    assert "facts/memory_throttle_bytes" not in probe.facts()
    assert "cgroup/memory_throttle_hits" not in probe.sample(0.0)


@CASES
def test_the_most_memory_is_told_now_and_then(make, membership, files, statistics):
    probe, _ = make(membership, files)

    first, second, third = (probe.sample(float(now)) for now in (0, 1, 10))

    assert first["cgroup/memory_peak_bytes"] == 4000
    assert "cgroup/memory_peak_bytes" not in second
    assert "cgroup/memory_peak_bytes" in third


@CASES
def test_time_in_programs_and_in_the_kernel_are_told_apart(
    make, membership, files, statistics
):
    split = {"usage_usec": 5, "user_usec": 0, "system_usec": 0}
    lines = "".join(f"{name} {number}\n" for name, number in split.items())
    probe, root = make(membership, {**files, statistics: lines})
    probe.sample(0.0)

    (root / statistics).write_text("user_usec 1000000\nsystem_usec 500000\n")
    ticks = os.sysconf("SC_CLK_TCK")
    accounted = root / "cpuacct/job/cpuacct.stat"
    if accounted.exists():
        accounted.write_text(f"user {ticks}\nsystem {ticks // 2}\n")
    sample = probe.sample(2.0)

    assert sample["cgroup/cpu_user_cores"] == 0.5
    assert sample["cgroup/cpu_system_cores"] == 0.25


@CASES
def test_the_page_cache_that_can_go_is_not_used_memory(
    make, membership, files, statistics
):
    probe, _ = make(membership, files)

    assert probe.sample(0.0)["cgroup/memory_used_bytes"] == 2000


@CASES
def test_throttling_is_the_share_of_new_periods(make, membership, files, statistics):
    probe, root = make(membership, files)
    assert "cgroup/throttled_share" not in probe.sample(0.0)

    (root / statistics).write_text("nr_periods 110\nnr_throttled 15\n")

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
def test_use_and_time_stopped_are_per_second(make, membership, files, statistics):
    probe, root = make(membership, files)
    probe.sample(0.0)

    text = "usage_usec 1000005\nnr_periods 110\nthrottled_usec 500000\n"
    (root / statistics).write_text(text + "throttled_time 500000005\n")
    usage = root / "cpuacct/job/cpuacct.usage"
    if usage.exists():
        usage.write_text("1000005000")
    first, second = probe.sample(2.0), probe.sample(3.0)

    assert first["cgroup/cpu_cores"] == pytest.approx(0.5)
    assert second["cgroup/throttled_seconds_per_second"] == 0
    assert second["cgroup/cpu_cores"] == 0


@CASES
def test_kills_and_limits_met_count_from_the_agents_beginning(
    make, membership, files, statistics
):
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
