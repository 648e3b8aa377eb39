from __future__ import annotations

import pytest

from seamark.importers.log_times import UnknownZone, zone_of


@pytest.fixture
def berlin():
    """Set a zone whose clocks are set back on 25 October 2026, from 3:00 to 2:00."""
    try:
        return zone_of("Europe/Berlin")
    except UnknownZone:
        pytest.skip("this machine has no zones")
