"""Which attributes who came by a share link sees, and what is taken out of sentences."""

from __future__ import annotations

import pytest

from tracker import disclosure
from tracker.actor import Actor, Grant, Part, actor_of_link

PARTS = {
    ("float_series", "train/loss"): None,
    ("float_series", "params/drift"): None,
    ("histogram_series", "train/gradients"): None,
    ("float", "test/accuracy"): None,
    ("float", "params/learning_rate"): Part.CONFIG,
    ("integer", "preprocess/images"): Part.CONFIG,
    ("string", "note"): Part.CONFIG,
    ("string_set", "tags"): Part.CONFIG,
    ("datetime", "params/began"): Part.CONFIG,
    ("text_series", "monitoring/train/stdout"): Part.LOGS,
    ("text_series", "samples"): Part.LOGS,
    ("string", "monitoring/train/failure/traceback"): Part.LOGS,
    ("string", "monitoring/train/rank-3/failure/message"): Part.LOGS,
    ("file", "checkpoints/best"): Part.FILES,
    ("image_series", "samples/input"): Part.FILES,
    ("string", "monitoring/train/environment/CUDA_HOME"): Part.ENVIRONMENT,
    ("string", "monitoring/train/git/remote"): Part.ENVIRONMENT,
    ("string", "monitoring/train/source/text"): Part.ENVIRONMENT,
    ("string", "monitoring/train/source/arguments"): Part.CONFIG,
    ("string", "monitoring/train/facts/host"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/platform"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/scheduler/name"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/gpu/0/uuid"): Part.ENVIRONMENT,
    ("string", "monitoring/train/facts/gpu/0/name"): None,
    ("string", "monitoring/train/facts/gpu_driver"): None,
    ("string", "monitoring/train/facts/storage/data/file_system"): None,
    ("string", "monitoring/train/facts/storage/data/mount"): Part.ENVIRONMENT,
    ("float", "monitoring/train/facts/effective_cores"): None,
    ("integer", "monitoring/train/rank-1/facts/gpu_count"): None,
    # Whatever somebody writes below the agent's paths is not taken for a fact.
    ("string", "monitoring/train/notes"): Part.ENVIRONMENT,
    ("string", "monitoring/x/facts/gpu/0/name/secret"): Part.ENVIRONMENT,
    ("string", "monitoring"): Part.CONFIG,
    ("a kind of tomorrow", "anything"): Part.CONFIG,
}


def stranger(*parts: Part) -> Actor:
    return actor_of_link(Grant(1, 1, {}, frozenset(parts)))


@pytest.mark.parametrize(("attribute", "part"), PARTS.items(), ids=str)
def test_an_attribute_is_in_one_part_or_measured(attribute, part):
    assert disclosure.part_of(*attribute) == part


@pytest.mark.parametrize("part", Part)
def test_a_tick_shows_its_part_and_no_other(part):
    seen = {
        attribute
        for attribute in PARTS
        if disclosure.is_seen(stranger(part), *attribute)
    }

    assert seen == {key for key, its in PARTS.items() if its in (None, part)}


def test_members_see_everything():
    member = Actor(user_id=7)

    assert all(disclosure.is_seen(member, *attribute) for attribute in PARTS)
    assert disclosure.seen_by(member) is None
    assert disclosure.withheld_from(member) == frozenset()


def test_pages_are_told_what_to_leave_out():
    assert disclosure.withheld_from(stranger(Part.LOGS)) == {
        "config",
        "environment",
        "files",
    }


def test_rules_that_name_other_runs_are_known():
    assert {"ranks-scale-poorly", "faster-but-worse"} <= disclosure.COMPARING
