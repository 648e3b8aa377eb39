"""The contents that wait in a spool's folder."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.blobs import Blobs


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Have writes end there as at a quota: short first, and then refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_is_taken_in_part_only_is_refused_and_not_kept(tmp_path):
    blobs = Blobs(tmp_path)
    with files_of_at_most(1000), pytest.raises(OSError, match="File too large"):
        blobs.keep(b"x" * 3000)

    assert not [*blobs.folder.iterdir()]
