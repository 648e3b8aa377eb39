from __future__ import annotations

import pytest

from tracker.diagnosis.engine.frameworks import (
    batch_size_line,
    loader_workers_line,
    memory_line,
)

FRAMEWORKS = ["pytorch", "tensorflow", "jax", "plain", None, "something new"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_framework_has_a_line_for_workers_and_batches(framework):
    assert "4" in loader_workers_line(framework, 4) or framework == "tensorflow"
    assert "128" in batch_size_line(framework, "128")


@pytest.mark.parametrize(
    ("framework", "word"),
    [("pytorch", "autocast"), ("tensorflow", "mixed_precision"), ("jax", "checkpoint")],
)
def test_frameworks_say_how_to_save_memory(framework, word):
    assert word in memory_line(framework)


def test_without_a_framework_there_is_no_line_to_save_memory():
    assert memory_line("plain") == ""
