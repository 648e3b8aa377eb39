import pytest

from seamark.probes.machine.cgroup_io import CgroupIoProbe
from seamark.probes.probe import ProbeUnavailable

PER_SECOND = {
    "cgroup/read_bytes_per_second": 50,
    "cgroup/write_bytes_per_second": 10,
    "cgroup/reads_per_second": 2,
    "cgroup/writes_per_second": 1,
}


def make(tmp_path, membership, **files):
    for name, text in files.items():
        path = tmp_path / "cgroup" / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    group = tmp_path / "proc/self/cgroup"
    group.parent.mkdir(parents=True)
    group.write_text(membership)
    return CgroupIoProbe(root=tmp_path / "cgroup", processes=tmp_path / "proc")


def test_all_disks_of_version_2_are_summed(tmp_path):
    probe = make(tmp_path, "0::/job\n", cgroup_DOT_controllers="", job__io_DOT_stat="")
    probe.sample(0.0)
    (tmp_path / "cgroup/job/io.stat").write_text(
        "8:0 rbytes=60 wbytes=20 rios=3 wios=2 dbytes=0 dios=0\n"
        "8:16 rbytes=40 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n"
    )

    assert probe.sample(2.0) == PER_SECOND


def test_version_1_has_a_file_for_bytes_and_one_for_requests(tmp_path):
    names = {
        "blkio__job__blkio_DOT_throttle_DOT_io_service_bytes": "Total 0\n",
        "blkio__job__blkio_DOT_throttle_DOT_io_serviced": "Total 0\n",
    }
    probe = make(tmp_path, "3:blkio:/job\n", **names)
    probe.sample(0.0)
    folder = tmp_path / "cgroup/blkio/job"
    (folder / "blkio.throttle.io_service_bytes").write_text(
        "8:0 Read 100\n8:0 Write 20\n8:0 Total 120\nTotal 120\n"
    )
    (folder / "blkio.throttle.io_serviced").write_text("8:0 Read 4\n8:0 Write 2\n")

    assert probe.sample(2.0) == PER_SECOND


def test_what_is_not_counted_is_absent(tmp_path):
    with pytest.raises(ProbeUnavailable):
        make(tmp_path, "0::/job\n", cgroup_DOT_controllers="")
