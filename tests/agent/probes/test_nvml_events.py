import pynvml
import pytest

from agent.probes.nvml_events import NvmlEventsProbe
from agent.probes.probe import ProbeUnavailable
from tests.agent.probes.nvml_double import Card


def test_an_error_is_a_point_of_its_gpu(driver):
    library = driver(Card(), Card())
    probe = NvmlEventsProbe(pynvml, {})
    library.events.append((1, 79))

    assert probe.sample(0.0) == {"gpu/1/xid": 79}
    assert probe.news() == {"facts/gpu/1/last_xid": 79}
    assert probe.sample(1.0) == {}
    assert probe.news() == {}


def test_without_rights_to_events_there_is_no_probe(driver):
    driver(Card(lacks={"nvmlDeviceGetSupportedEventTypes"}))

    with pytest.raises(ProbeUnavailable):
        NvmlEventsProbe(pynvml, {})
