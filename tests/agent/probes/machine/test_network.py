import pytest

from seamark.probes.machine.network import NetworkProbe, counted

HEAD = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop ...\n"
RECEIVED = "host/network_receive_bytes_per_second"
ERRORS = "host/network_errors"


def line(name, received, sent, lost=0):
    return f"{name:>6}: {received} 1 {lost} 0 0 0 0 0 {sent} 1 0 {lost} 0 0 0 0\n"


class Network:
    """Network interfaces in /sys, some with a device."""

    def __init__(self, folder, *with_device):
        self.file, self.interfaces = folder / "dev", folder / "net"
        for name in with_device:
            (self.interfaces / name / "device").mkdir(parents=True)
        self.be()

    def be(self, *lines):
        self.file.write_text(HEAD + line("lo", 9, 9, 9) + "".join(lines))

    def probe(self):
        return NetworkProbe(self.file, self.interfaces)


@pytest.fixture
def make(tmp_path):
    return lambda *with_device: Network(tmp_path, *with_device)


def test_interfaces_are_summed_without_the_loopback(make):
    network = make()
    probe = network.probe()
    network.be(line("eth0", 0, 0), line("ib0", 0, 0), line("lowpan0", 0, 0))
    probe.sample(0.0)
    network.be(line("eth0", 5, 6), line("ib0", 10, 20), line("lowpan0", 1, 1))

    sample = probe.sample(1.0)

    assert sample[RECEIVED] == 16
    assert sample["host/network_send_bytes_per_second"] == 27


def test_without_interfaces_nothing_is_known(make):
    probe = make().probe()

    assert probe.sample(0.0) == probe.sample(1.0) == {}


def test_bytes_are_rates_and_losses_count_from_the_beginning(make):
    network = make("eth0")
    network.be(line("eth0", 0, 0, 5))
    probe = network.probe()
    first = probe.sample(0.0)
    network.be(line("eth0", 200, 100, 6))

    assert first == {ERRORS: 0}
    assert probe.sample(2.0) == {
        RECEIVED: 100,
        "host/network_send_bytes_per_second": 50,
        ERRORS: 2,
    }


def test_what_a_card_carries_for_a_bond_is_counted_once(make):
    network = make("eth0", "eth1")
    names = ("bond0", "eth0", "eth1", "docker0", "veth1")
    network.be(*(line(name, 0, 0) for name in names))
    probe = network.probe()
    probe.sample(0.0)
    network.be(*(line(name, 100, 0) for name in names))

    assert probe.sample(1.0)[RECEIVED] == 200


def test_in_a_container_an_interface_without_a_device_counts(make):
    network = make()
    network.be(line("eth0", 0, 0))
    probe = network.probe()
    probe.sample(0.0)
    network.be(line("eth0", 100, 0))

    assert probe.sample(1.0)[RECEIVED] == 100


def test_a_card_behind_another_is_counted_by_that(make, tmp_path):
    network = make("eth0", "enP1s1")
    (network.interfaces / "enP1s1" / "master").symlink_to(network.interfaces / "eth0")

    assert counted(["eth0", "enP1s1"], network.interfaces) == {"eth0"}


def test_an_interface_that_comes_or_goes_is_neither_traffic_nor_loss(make):
    network = make("eth0", "eth1", "eth2")
    network.be(line("eth0", 10, 0, 1), line("eth1", 5_000, 0, 500))
    probe = network.probe()
    probe.sample(0.0)
    network.be(line("eth0", 20, 0, 2))
    gone = probe.sample(1.0)
    network.be(line("eth0", 30, 0, 2), line("eth2", 7_000, 0, 700))

    come = probe.sample(2.0)

    assert gone[RECEIVED] == come[RECEIVED] == 10
    assert gone[ERRORS] == come[ERRORS] == 2


def test_an_interface_that_was_exchanged_is_no_traffic_and_its_losses_are_new(make):
    network = make("eth0", "eth1")
    network.be(line("eth0", 900, 0, 50), line("eth1", 0, 0))
    probe = network.probe()
    probe.sample(0.0)
    network.be(line("eth0", 3, 0, 1), line("eth1", 10, 0))

    sample = probe.sample(1.0)

    assert sample[RECEIVED] == 10
    assert sample[ERRORS] == 2


def test_devices_are_looked_for_when_interfaces_change_alone(make):
    network = make()
    network.be(line("eth0", 0, 0), line("eth1", 0, 0))
    probe = network.probe()
    probe.sample(0.0)
    (network.interfaces / "eth1" / "device").mkdir(parents=True)
    network.be(line("eth0", 10, 0), line("eth1", 10, 0))
    unchanged = probe.sample(1.0)
    network.be(line("eth0", 20, 0), line("eth1", 20, 0), line("veth1", 0, 0))

    assert unchanged[RECEIVED] == 20
    assert probe.sample(2.0)[RECEIVED] == 10
