import sys

import pytest

from agent.probes.host import HostProbe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /dev")


def test_a_host_without_gpu_devices_has_no_gpu(tmp_path):
    assert HostProbe(devices=tmp_path).facts()["facts/gpu_count"] == 0


@pytest.mark.parametrize("device", ["nvidia0", "nvidiactl", "kfd", "dxg"])
def test_a_gpu_device_leaves_the_count_to_its_driver(tmp_path, device):
    (tmp_path / device).touch()

    assert "facts/gpu_count" not in HostProbe(devices=tmp_path).facts()
