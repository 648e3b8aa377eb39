import pytest

from seamark.probes.machine.memory import MemoryProbe
from seamark.probes.probe import ProbeUnavailable

INFO = """MemTotal:       1000 kB
MemFree:         100 kB
MemAvailable:    400 kB
SwapCached:        9 kB
Cached:          300 kB
SwapTotal:         0 kB
SwapFree:          0 kB
Dirty:             7 kB
Shmem:            50 kB
"""
COUNTS = "pswpin 0\npswpout 0\npgmajfault 10\noom_kill 3\n"


@pytest.fixture
def processes(tmp_path):
    (tmp_path / "meminfo").write_text(INFO)
    (tmp_path / "vmstat").write_text(COUNTS)
    return tmp_path


def test_amounts_are_bytes_and_cache_is_not_use(processes):
    sample = MemoryProbe(processes).sample(0.0)

    assert sample["host/memory_used_bytes"] == 600 * 1024
    assert sample["host/page_cache_bytes"] == 250 * 1024
    assert sample["host/shared_memory_bytes"] == 50 * 1024
    assert sample["host/dirty_bytes"] == 7 * 1024
    assert MemoryProbe(processes).facts() == {"facts/host_memory_bytes": 1000 * 1024}


def test_a_host_without_swap_uses_none_rather_than_zero(processes):
    assert "host/swap_used_bytes" not in MemoryProbe(processes).sample(0.0)


def test_swapping_is_bytes_per_second_and_kills_count_from_the_beginning(processes):
    probe = MemoryProbe(processes)
    first = probe.sample(0.0)
    (processes / "vmstat").write_text(
        "pswpin 2\npswpout 0\npgmajfault 30\noom_kill 4\n"
    )

    sample = probe.sample(2.0)

    assert first["host/oom_kills"] == 0
    assert sample["host/oom_kills"] == 1
    assert sample["host/swap_in_bytes_per_second"] in (4096, 16384, 65536)
    assert sample["host/major_faults_per_second"] == 10


def test_what_the_kernel_does_not_count_is_absent(processes):
    (processes / "vmstat").write_text("")
    (processes / "meminfo").write_text("MemTotal: 5 kB\n")

    assert MemoryProbe(processes).sample(0.0) == {}


def test_without_its_file_there_is_no_probe(tmp_path):
    with pytest.raises(ProbeUnavailable):
        MemoryProbe(tmp_path)
