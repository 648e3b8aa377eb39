"""Problems of the machine and its settings are reported; good ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracker.integrity.host import (
    MIB,
    disk_problems,
    file_limit_problems,
    file_system_of,
    file_system_problems,
    look_at_host,
    secret_file_problems,
    settings_problems,
)
from tracker.integrity.problem import Severity

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw shared:2 - nfs4 server:/home rw,vers=4.2
31 30 8:2 / /home/ada/local\\040disk rw - xfs /dev/sdb1 rw
32 22 0:50 / /data rw - ext4 /dev/sdc1 rw
33 32 0:51 / /data rw - cifs //server/data rw
not a line of mounts
"""


def codes(problems):
    return [(problem.code, problem.severity) for problem in problems]


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib/seamark", "ext4"),
        ("/home/ada/seamark", "nfs4"),
        ("/home/ada/local disk/seamark", "xfs"),
        ("/homely", "ext4"),
        ("/data", "cifs"),
    ],
)
def test_the_nearest_mount_decides_about_a_folder(folder, kind):
    assert file_system_of(Path(folder), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "lustre", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_an_error(kind):
    assert codes(file_system_problems(Path("/x"), kind)) == [
        ("network-file-system", Severity.ERROR)
    ]


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "overlay", "tmpfs", ""])
def test_a_local_file_system_is_none(kind):
    assert codes(file_system_problems(Path("/x"), kind)) == []


@pytest.mark.parametrize(
    ("total", "free", "severity"),
    [
        (100_000 * MIB, 50_000 * MIB, None),
        (100_000 * MIB, 4_000 * MIB, Severity.WARNING),
        (2_000 * MIB, 900 * MIB, Severity.WARNING),
        (100_000 * MIB, 100 * MIB, Severity.ERROR),
    ],
)
def test_a_full_disk_is_named(total, free, severity):
    found = codes(disk_problems(Path("/x"), total=total, free=free))

    assert found == ([("disk-space", severity)] if severity else [])


@pytest.mark.parametrize(
    ("soft", "is_low"), [(256, True), (1_023, True), (1_024, False), (-1, False)]
)
def test_a_low_limit_of_open_files_is_named(soft, is_low):
    assert bool(codes(file_limit_problems(soft))) == is_low


def test_debug_is_named():
    assert codes(settings_problems(debug=True)) == [("debug", Severity.ERROR)]
    assert codes(settings_problems(debug=False)) == []


@pytest.mark.parametrize(
    ("mode", "is_bad"), [(0o100600, False), (0o100640, True), (0o100604, True)]
)
def test_a_secret_that_others_may_read_is_named(mode, is_bad):
    assert bool(codes(secret_file_problems(Path("/x"), mode))) == is_bad


def test_this_machine_is_looked_at(tmp_path):
    secret = tmp_path / "secret-key"
    secret.write_text("x")
    secret.chmod(0o644)

    found = look_at_host(tmp_path, keeps_database=True, debug=True)

    assert {problem.code for problem in found} >= {"debug", "secret-key-readable"}
