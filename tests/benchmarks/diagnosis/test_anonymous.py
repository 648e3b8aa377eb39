"""Recordings tell what was measured, and not on whose machine."""

from __future__ import annotations

import os

import msgspec
import pytest

from agent.probes.nvml import NvmlProbe
from benchmarks.diagnosis.recordings import anonymous, anonymous_text

UUID = "8c3c7ba2-11aa-4bcd-9eef-0123456789ab"
BUS = "00000000:1b:00.0"
# What many cards, or all of a kind, have in common.
SHARED = {
    "facts/gpu_driver",
    "facts/gpu_driver_cuda",
    *(
        f"facts/gpu/<i>/{name}"
        for name in (
            *("name", "architecture", "compute_capability", "virtualization"),
            *("nvlink_version", "measured_with", "asked_less", "state"),
            *("near_cpus", "near_memory"),
            *("mig/<j>/measured_with", "mig/<j>/state"),
        )
    ),
}


def kept_of(*messages):
    return msgspec.msgpack.decode(anonymous(msgspec.msgpack.encode(messages)))


def fact(path, value):
    return {"t": "set", "path": f"monitoring/train/{path}", "value": value}


def test_a_card_loses_what_names_it_and_keeps_what_it_is():
    kept = kept_of(
        fact("facts/gpu/0/uuid", f"GPU-{UUID}"),
        fact("facts/gpu/0/mig/1/uuid", f"MIG-{UUID}"),
        fact("facts/gpu/0/pci_bus", BUS),
        fact("facts/gpu/0/serial", "1234567890"),
        fact("facts/gpu/0/name", "NVIDIA H100 80GB HBM3"),
        fact("facts/gpu/0/memory_total_bytes", 85_520_809_984),
        fact("facts/gpu/0/near_cpus", "0-15"),
    )

    assert UUID not in str(kept)
    assert "1b:00" not in str(kept)
    assert "1234567890" not in str(kept)
    assert [m["value"] for m in kept[4:]] == [
        "NVIDIA H100 80GB HBM3",
        85_520_809_984,
        "0-15",
    ]


@pytest.mark.parametrize(
    "path", [s.path for s in NvmlProbe.states if s.type == "string"]
)
def test_every_text_about_a_card_is_either_shared_by_many_or_replaced(path):
    told = path.replace("<i>", "0").replace("<j>", "1")

    (kept,) = kept_of(fact(told, "what the driver said"))

    assert (kept["value"] == "what the driver said") == (path in SHARED)


def test_a_machine_and_its_folders_are_not_named():
    kept = kept_of(
        {"t": "open", "host": "node-17.cluster", "pid": 7, "run": "float32"},
        fact("facts/host", "node-17.cluster"),
        fact("facts/storage/shared_memory/mount", "/mnt/ann"),
        {
            "t": "close",
            "failure": f"OutOfMemoryError in /home/ann/project/train.py on GPU-{UUID}"
            f" at {BUS}. Process 4711 has 77 GiB in use.",
        },
        fact("out_of_memory/largest", ["scores /home/ann/x.py", UUID]),
    )

    said = str(kept)
    for name in ("node-17", "ann", UUID, "1b:00", "4711"):
        assert name not in said
    assert "train.py" in said
    assert "77 GiB" in said


def test_the_recording_machine_and_its_user_are_not_named(monkeypatch):
    monkeypatch.setenv("USER", "mallory")
    told = f"mallory runs it on {os.uname().nodename}"

    assert anonymous_text(told) == "trainer runs it on trainer"


def test_what_was_measured_stays_as_it_was():
    points = {"t": "points", "paths": ["gpu/0/uuid_count"], "values": b"\x00\x01"}
    readings = "host/load\t\thost\t0.6\t/proc/loadavg\nstep/seconds\ts\tlimit 0.8"

    kept = kept_of(points, fact("facts/readings", readings))

    assert kept == [points, fact("facts/readings", readings)]
