import os

import pytest

from seamark.probes.nvidia.users import (
    Pids,
    Use,
    job_root,
    share_readings,
    use_readings,
)

GIB = 2**30


def pids(monkeypatch, *, is_first, children=()):
    monkeypatch.setattr(
        "seamark.probes.nvidia.users._is_first_namespace", lambda: is_first
    )
    return Pids(10, lambda root: list(children))


def test_in_the_hosts_namespace_numbers_are_ours(monkeypatch):
    assert pids(monkeypatch, is_first=True).is_comparable


def test_in_a_container_numbers_are_ours_once_one_of_them_is(monkeypatch):
    found = pids(monkeypatch, is_first=False, children=[11])

    found.compare([4000, 4001], found.own(0.0))
    before = found.is_comparable
    found.compare([4000, 11], found.own(0.0))

    assert before is None
    assert found.is_comparable


def test_while_numbers_may_be_the_hosts_nobody_is_called_another():
    assert use_readings([Use(4000, GIB)], None) == {"processes": 1}
    assert share_readings({4000: {"sm": 50.0}}, None) == {}


def test_a_gpu_that_nobody_uses_is_used_by_no_others_whatever_numbers_mean():
    assert use_readings([], None)["other_processes"] == 0
    assert set(share_readings({}, None).values()) == {0}


def test_memory_that_the_driver_does_not_tell_is_unknown():
    readings = use_readings([Use(10, None), Use(20, GIB)], {10})

    assert "job_memory_bytes" not in readings
    assert readings["job_processes"] == 1
    assert readings["other_memory_bytes"] == GIB


@pytest.mark.parametrize(
    ("local", "root"),
    [("", os.getpid()), ("1", os.getpid()), ("8", os.getppid())],
    ids=["alone", "second of two", "first of others"],
)
def test_ranks_of_a_machine_are_one_job(monkeypatch, local, root):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", local)

    assert job_root(None) == root
    assert job_root(7) == 7
