from __future__ import annotations

import pytest

from tracker.diagnosis.engine.frameworks import (
    batch_size_line,
    compile_line,
    data_parallel_line,
    loader_workers_line,
    memory_line,
    mixed_precision_line,
)
from tracker.diagnosis.input.code_lines import in_memory_line

FRAMEWORKS = [
    "pytorch",
    "tensorflow",
    "jax",
    "ultralytics",
    "plain",
    None,
    "something new",
]


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


def test_ultralytics_has_arguments_of_its_own():
    lines = [
        loader_workers_line("ultralytics", 4),
        batch_size_line("ultralytics", "128"),
        memory_line("ultralytics"),
        mixed_precision_line("ultralytics", "bfloat16"),
        compile_line("ultralytics"),
        in_memory_line("ultralytics"),
    ]

    assert {line.partition("(")[0] for line in lines} == {"model.train"}
    assert data_parallel_line("ultralytics", 2).endswith("device=[0, 1])")
