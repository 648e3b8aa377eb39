import pynvml
import pytest

from seamark.probes.nvidia.driver import DriverGone
from seamark.probes.nvidia.nvml_events import NvmlEventsProbe
from seamark.probes.probe import ProbeUnavailable
from tests.agent.probes.nvidia.nvml_double import LOST, RESET_REQUIRED, UNLOADED, Card


def test_an_error_is_a_point_of_its_gpu(driver):
    library = driver(Card(), Card())
    probe = NvmlEventsProbe(pynvml, {})
    library.events.append((1, 79))

    assert probe.sample(0.0) == {"gpu/1/xid": 79}
    assert probe.news() == {"facts/gpu/1/last_xid": 79}
    assert probe.sample(1.0) == {}
    assert probe.news() == {}


def test_the_last_error_of_a_gpu_that_fell_off_the_bus_is_its_own(driver):
    card = Card()
    library = driver(Card(), card)
    probe = NvmlEventsProbe(pynvml, {})
    card.fails["all"] = LOST
    library.events.append((1, 79))
    library.fails_to_wait.append(LOST)

    assert probe.sample(0.0) == {}
    assert probe.sample(1.0) == {"gpu/1/xid": 79}
    assert probe.news() == {"facts/gpu/1/last_xid": 79}


def test_an_event_with_another_handle_is_told_by_the_gpus_id(driver):
    library = driver(Card(), Card())
    library.has_other_handles_for_events = True
    probe = NvmlEventsProbe(pynvml, {})
    library.events.append((1, 13))

    assert probe.sample(0.0) == {"gpu/1/xid": 13}


def test_a_gpu_that_must_be_reset_leaves_the_others_to_be_heard(driver):
    library = driver(Card(fails={"all": RESET_REQUIRED}), Card())
    probe = NvmlEventsProbe(pynvml, {})
    library.events.append((1, 48))

    assert probe.sample(0.0) == {"gpu/1/xid": 48}


def test_the_set_of_events_is_freed_once(driver):
    library = driver(Card())
    probe = NvmlEventsProbe(pynvml, {})

    probe.close()
    probe.close()

    assert library.calls.count("nvmlEventSetFree") == 1


@pytest.mark.parametrize(
    "card",
    [
        Card(lacks={"nvmlDeviceGetSupportedEventTypes"}),
        Card(fails={"nvmlDeviceRegisterEvents": UNLOADED}),
    ],
    ids=["without rights to events", "when the driver goes"],
)
def test_a_probe_that_cannot_be_made_leaves_nothing_with_the_driver(driver, card):
    library = driver(card)

    with pytest.raises((ProbeUnavailable, DriverGone)):
        NvmlEventsProbe(pynvml, {})

    assert library.calls.count("nvmlEventSetFree") == 1
