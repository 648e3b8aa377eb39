import pytest

from seamark.probes.machine.rdma import RdmaProbe
from seamark.probes.probe import ProbeUnavailable

RECEIVED = "host/rdma_receive_bytes_per_second"
SENT = "host/rdma_send_bytes_per_second"


def count(devices, card, received, sent):
    """Let the card's port have received and sent so many words."""
    counters = devices / card / "ports" / "1" / "counters"
    counters.mkdir(parents=True, exist_ok=True)
    (counters / "port_rcv_data").write_text(f"{received}\n")
    (counters / "port_xmit_data").write_text(f"{sent}\n")


def test_words_of_all_ports_are_told_as_bytes(tmp_path):
    count(tmp_path, "mlx5_0", 1_000, 0)
    count(tmp_path, "mlx5_1", 5, 0)
    probe = RdmaProbe(tmp_path)
    first = probe.sample(0.0)
    count(tmp_path, "mlx5_0", 1_200, 50)
    count(tmp_path, "mlx5_1", 105, 0)

    assert first == {}
    assert probe.sample(2.0) == {RECEIVED: 600, SENT: 100}


def test_a_port_that_does_not_count_or_is_gone_leaves_the_others(tmp_path):
    count(tmp_path, "mlx5_0", 0, 0)
    count(tmp_path, "mlx5_1", "N/A (no PMA)", "N/A (no PMA)")
    count(tmp_path, "mlx5_2", 9, 9)
    probe = RdmaProbe(tmp_path)
    probe.sample(0.0)
    count(tmp_path, "mlx5_0", 10, 20)
    gone = tmp_path / "mlx5_2" / "ports" / "1" / "counters"
    for file in gone.iterdir():
        file.write_text("")

    assert probe.sample(1.0) == {RECEIVED: 40, SENT: 80}


def test_devices_are_links_as_the_kernel_has_them(tmp_path):
    count(tmp_path / "devices", "mlx5_0", 0, 0)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "mlx5_0").symlink_to(tmp_path / "devices" / "mlx5_0")
    probe = RdmaProbe(tmp_path / "class")
    probe.sample(0.0)
    count(tmp_path / "devices", "mlx5_0", 10, 10)

    assert probe.sample(1.0)[SENT] == 40


@pytest.mark.parametrize("folder", ["", "absent"])
def test_without_ports_that_count_there_is_no_probe(tmp_path, folder):
    count(tmp_path, "mlx5_0", "N/A (no PMA)", "N/A (no PMA)")

    with pytest.raises(ProbeUnavailable) as reason:
        RdmaProbe(tmp_path / folder)

    assert str(reason.value) == ""
