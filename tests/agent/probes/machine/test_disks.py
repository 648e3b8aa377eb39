import pytest

from seamark.probes.machine.disks import DisksProbe

# major minor name, reads merged sectors ms, writes merged sectors ms, now busy queue
LINE = "{0} {1} {2} {3} 0 {4} {5} {6} 0 {7} {8} 0 {9} {10} 0 0 0 0 0 0\n"


def disk(
    name, *, reads=0, read=0, took=0, writes=0, written=0, wrote=0, busy=0, queue=0
):
    return LINE.format(
        8, 0, name, reads, read, took, writes, written, wrote, busy, queue
    )


@pytest.fixture
def make(tmp_path):
    file, blocks = tmp_path / "diskstats", tmp_path / "block"
    for name in ("sda", "sdb", "loop0", "dm-0", "nvme0n1"):
        (blocks / name).mkdir(parents=True)

    def build(*lines):
        file.write_text("".join(lines))
        return DisksProbe(file, blocks), lambda *new: file.write_text("".join(new))

    return build


def test_all_disks_together_and_the_busiest(make):
    probe, write = make(disk("sda"), disk("sdb"))
    assert probe.sample(0.0) == {}
    write(
        disk("sda", reads=10, read=20, took=500, busy=1000, queue=4000),
        disk("sdb", writes=4, written=8, wrote=40, busy=500, queue=0),
    )

    assert probe.sample(2.0) == {
        "host/disk_read_bytes_per_second": 20 * 512 / 2,
        "host/disk_write_bytes_per_second": 8 * 512 / 2,
        "host/disk_reads_per_second": 5,
        "host/disk_writes_per_second": 2,
        "host/disk_read_seconds": 0.05,
        "host/disk_write_seconds": 0.01,
        "host/disk_queue": 2,
        "host/disk_busiest_percent": 50,
    }


def test_a_time_of_no_requests_is_absent(make):
    probe, _ = make(disk("sda"))
    probe.sample(0.0)

    sample = probe.sample(1.0)

    assert sample["host/disk_reads_per_second"] == 0
    assert "host/disk_read_seconds" not in sample


def test_partitions_and_disks_made_of_others_are_not_counted_twice(make):
    names = ("sda", "sda1", "dm-0", "loop0")
    probe, write = make(*(disk(name) for name in names))
    probe.sample(0.0)
    write(*(disk(name, reads=1, read=2) for name in names))

    assert probe.sample(1.0)["host/disk_reads_per_second"] == 1


def test_a_disk_that_was_exchanged_is_left_out_once(make):
    probe, write = make(disk("sda", reads=100), disk("sdb"))
    probe.sample(0.0)
    write(disk("sda", reads=1), disk("sdb", reads=3))

    assert probe.sample(1.0)["host/disk_reads_per_second"] == 3


def test_a_host_without_disks_has_no_traffic(make):
    probe, _ = make(disk("loop0"))
    probe.sample(0.0)

    assert probe.sample(1.0) == {}
