import pytest

from seamark.probes.machine.pressure import OF_GROUP, OF_HOST, PressureProbe
from seamark.probes.probe import ProbeUnavailable


def lines(some, full=0):
    return (
        f"some avg10=0.00 avg60=0.00 avg300=0.00 total={some}\n"
        f"full avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "cgroup" / "job").mkdir(parents=True)
    (tmp_path / "cgroup" / "cgroup.controllers").touch()
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/job\n")
    (tmp_path / "proc" / "pressure").mkdir()
    return tmp_path


def make(place):
    return PressureProbe(root=place / "cgroup", processes=place / "proc")


def test_the_groups_pressure_is_a_share_of_time(place):
    file = place / "cgroup/job/cpu.pressure"
    file.write_text(lines(0))
    (place / "proc/pressure/cpu").write_text(lines(9_000_000))
    probe = make(place)
    assert probe.sample(0.0) == {}
    file.write_text(lines(500_000, 100_000))

    assert probe.sample(2.0) == {
        "pressure/cpu_some_share": 0.25,
        "pressure/cpu_full_share": 0.05,
    }
    assert probe.chosen["pressure/cpu_some_share"] == OF_GROUP


def test_without_the_groups_it_is_the_hosts_and_said_to_be(place):
    (place / "proc/pressure/io").write_text(lines(0))

    assert make(place).chosen["pressure/io_some_share"] == OF_HOST


def test_that_all_of_a_host_waits_for_cpu_is_never_said(place):
    # The kernel has no `full` state for it and always writes 0.
    for resource in ("cpu", "memory"):
        (place / f"proc/pressure/{resource}").write_text(lines(0))
    probe = make(place)
    probe.sample(0.0)

    assert probe.sample(2.0).keys() == {
        "pressure/cpu_some_share",
        "pressure/memory_some_share",
        "pressure/memory_full_share",
    }
    described = {r.source for r in probe.readings if r.path.endswith("cpu_full_share")}
    assert described == {OF_GROUP}
    assert "pressure/cpu_full_share" not in probe.chosen


def test_pressure_that_is_not_counted_is_unknown(place):
    with pytest.raises(ProbeUnavailable):
        make(place)
