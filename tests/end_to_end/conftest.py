from __future__ import annotations

import pytest

from tests.end_to_end.installation import Up
from tests.services import free_port


@pytest.fixture
def up(tmp_path):
    up = Up(tmp_path, free_port())
    yield up
    if up.process is not None:
        up.process.kill()
        up.process.communicate()
