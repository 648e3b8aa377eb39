from agent.probes.network import NetworkProbe, network_totals

HEAD = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop ...\n"


def line(name, received, sent, lost=0):
    return f"{name:>6}: {received} 1 {lost} 0 0 0 0 0 {sent} 1 0 {lost} 0 0 0 0\n"


def test_interfaces_are_summed_without_the_loopback():
    text = HEAD + line("lo", 100, 100) + line("eth0", 5, 6, 1) + line("ib0", 10, 20)

    assert network_totals(text) == (15, 26, 2)


def test_without_interfaces_nothing_is_known():
    assert network_totals(HEAD + line("lo", 1, 1)) is None


def test_bytes_are_rates_and_losses_count_from_the_beginning(tmp_path):
    file = tmp_path / "dev"
    file.write_text(HEAD + line("eth0", 0, 0, 5))
    probe = NetworkProbe(file)
    first = probe.sample(0.0)
    file.write_text(HEAD + line("eth0", 200, 100, 6))

    assert first == {"host/network_errors": 0}
    assert probe.sample(2.0) == {
        "host/network_receive_bytes_per_second": 100,
        "host/network_send_bytes_per_second": 50,
        "host/network_errors": 2,
    }
