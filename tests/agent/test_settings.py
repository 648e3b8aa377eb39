from __future__ import annotations

from enum import Enum

import numpy as np
import pytest

from seamark import settings as agent_settings
from seamark.errors import InvalidSetting
from seamark.servers import find_server
from seamark.settings import read_settings
from seamark.user_warnings import Notices


def read(run=None, environment=None, **arguments):
    wanted = {
        "project": None,
        "stage": None,
        "rank": None,
        "mode": None,
        "monitor": True,
        "strict": False,
        **arguments,
    }
    return read_settings(run, environment=environment or {}, **wanted)


def test_an_argument_comes_before_the_environment():
    environment = {"SEAMARK_PROJECT": "e", "SEAMARK_RUN": "e", "SEAMARK_STAGE": "e"}

    settings = read("a", environment, project="a", stage="a")

    assert (settings.run, settings.project, settings.stage) == ("a", "a", "a")


def test_how_often_to_measure_may_be_an_argument():
    environment = {"SEAMARK_SAMPLE_SECONDS": "9"}

    assert read("r", environment, sample_seconds=5).sample_seconds == 5.0
    assert read("r", environment).sample_seconds == 9.0


@pytest.mark.parametrize("seconds", [0.1, 61, float("nan"), "often", object()])
def test_an_argument_that_is_no_interval_is_refused(seconds):
    with pytest.raises(InvalidSetting, match="sample_seconds"):
        read("r", sample_seconds=seconds)


def test_the_environment_comes_before_defaults():
    environment = {"SEAMARK_PROJECT": "e", "SEAMARK_STAGE": "s", "RANK": "3"}

    settings = read("r", environment)

    assert (settings.project, settings.stage, settings.rank) == ("e", "s", 3)
    assert settings.namespace == "monitoring/s/rank-3"


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        ({"LOCAL_RANK": "1"}, 1),
        ({"LOCAL_RANK": "1", "NODE_RANK": "0"}, 1),
        # On another node the local rank is ambiguous.
        ({"LOCAL_RANK": "1", "NODE_RANK": "2"}, 0),
        ({"LOCAL_RANK": "1", "RANK": "9"}, 9),
    ],
)
def test_a_local_rank_is_the_rank_on_the_first_node(variables, rank):
    assert read("r", variables).rank == rank


@pytest.mark.parametrize("value", ["", "-1", "many", "99999999999"])
def test_an_odd_rank_variable_is_rank_zero(value):
    assert read("r", {"RANK": value}).rank == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "sometimes"},
        {"stage": "a/b"},
        {"project": "x" * 256},
        {"project": "a\0b"},
        {"project": "\ud800"},
        {"rank": -1},
        {"rank": 1.5},
        {"rank": "0"},
    ],
)
def test_an_argument_that_cannot_be_meant_is_refused(arguments):
    with pytest.raises(InvalidSetting):
        read("r", **arguments)


@pytest.mark.parametrize("rank", [np.int64(3), np.uint8(3), np.array(3), 3])
def test_any_whole_number_is_a_rank(rank):
    settings = read("r", rank=rank)

    assert (settings.rank, type(settings.rank)) == (3, int)


@pytest.mark.parametrize(
    ("meant", "texts"),
    [
        (True, ["yes", "1", "true", "True", "on", "Y", " yes "]),
        (False, ["no", "0", "false", "FALSE", "off", "n"]),
    ],
)
@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ("SEAMARK_MONITOR", "monitor"),
        ("SEAMARK_SEPARATE_RANKS", "separate_ranks"),
        ("SEAMARK_CAPTURE", "capture"),
        ("SEAMARK_RESUMED", "resumed_at"),
    ],
)
def test_yes_and_no_are_understood_as_people_write_them(
    meant, texts, variable, found, caplog
):
    for text in texts:
        environment = {variable: text, "SLURM_RESTART_COUNT": "1"}
        settings = read("r", environment, monitor=None, strict=True)
        assert bool(getattr(settings, found)) == meant, text
    assert not caplog.text


@pytest.fixture(autouse=True)
def nothing_said_before(monkeypatch):
    monkeypatch.setattr(agent_settings, "_notices", Notices())


# Variable, invalid value, setting, and resulting value.
SLIPS = [
    ("SEAMARK_MONITOR", "perhaps", "monitor", True),
    ("SEAMARK_SEPARATE_RANKS", "perhaps", "separate_ranks", False),
    ("SEAMARK_RESUMED", "perhaps", "resumed_at", None),
    ("SEAMARK_SAMPLE_SECONDS", "0.1", "sample_seconds", 0.5),
    ("SEAMARK_SAMPLE_SECONDS", "3600", "sample_seconds", 60.0),
    ("SEAMARK_SAMPLE_SECONDS", "often", "sample_seconds", 1.0),
    ("SEAMARK_SAMPLE_SECONDS", "nan", "sample_seconds", 1.0),
    ("SEAMARK_EXIT_SECONDS", "nan", "exit_seconds", 5.0),
    ("SEAMARK_EXIT_SECONDS", "-1", "exit_seconds", 5.0),
    ("SEAMARK_MODE", "sometimes", "mode", "online"),
    ("SEAMARK_STAGE", "a/b", "stage", "a-b"),
    ("SEAMARK_STAGE", "  ", "stage", "main"),
    ("SEAMARK_PROJECT", "caf\udce9", "project", "caf?"),
    ("SEAMARK_SPOOL_GIB", "much", "spool_files_bytes", 50 * 2**30),
    ("SEAMARK_SPOOL_POINTS_GIB", "-1", "spool_points_bytes", None),
    ("SEAMARK_SPOOL_POINTS_GIB", "\u0664", "spool_points_bytes", None),
    # An unknown excluded name may be a misspelling, so capture is off.
    ("SEAMARK_CAPTURE", "-enviroment", "capture", frozenset()),
    ("SEAMARK_CAPTURE", "git,consol", "capture", frozenset({"git"})),
    ("SEAMARK_URL", "ftp://host", "run", "r"),
    ("SEAMARK_URL", "http://user:secret@host", "run", "r"),
    ("SEAMARK_URL", "http://host:port", "run", "r"),
    ("SEAMARK_TOKEN", "smk_secret\udce9", "run", "r"),
    ("SEAMARK_TOKEN", "smk_\nsecret", "run", "r"),
]


@pytest.mark.parametrize(("variable", "text", "setting", "instead"), SLIPS)
def test_a_slip_in_the_environment_ends_no_job(
    variable, text, setting, instead, caplog
):
    environment = {"SEAMARK_TOKEN": "t", variable: text}

    for _ in range(2):
        found = read("r", environment, monitor=None)
        assert getattr(found, setting) == instead

    assert len(caplog.records) == 1
    assert "secret" not in caplog.text
    assert find_server(environment) is None
    with pytest.raises(InvalidSetting):
        read("r", environment, monitor=None, strict=True)


@pytest.mark.parametrize("variable", ["SEAMARK_SPOOL", "SEAMARK_DATASET"])
def test_a_relative_folder_where_the_working_directory_is_gone_ends_no_job(
    variable, tmp_path, monkeypatch, caplog
):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    environment = {"XDG_STATE_HOME": "/s", variable: "here"}

    for _ in range(2):
        settings = read("r", environment)
        assert settings.spool.as_posix() == "/s/seamark/spool"
        assert settings.dataset is None

    assert len(caplog.records) == 1
    assert variable in caplog.text
    with pytest.raises(InvalidSetting):
        read("r", environment, strict=True)


def test_processes_of_a_run_whose_name_is_too_long_agree_on_another():
    long = "lr=0.1,batch=32," * 30

    names = {read(None, {"SEAMARK_RUN": long}).run for _ in range(2)}
    names.add(read(None, {"SEAMARK_RUN": f"{long}seed=2"}).run)

    assert len(names) == 2
    assert {len(name) for name in names} == {255}
    assert all(name.startswith("lr=0.1,batch=32,") for name in names)


def test_ranks_are_kept_apart_where_that_is_asked_for():
    environment = {"SEAMARK_SEPARATE_RANKS": "yes", "RANK": "3"}

    assert read("r", environment).own_prefix == "rank-3/"
    assert read("r", {**environment, "RANK": "0"}).own_prefix == ""
    assert read("r", {"RANK": "3"}).own_prefix == ""
    assert read("r", {"RANK": "3"}, separate_ranks=True).own_prefix == "rank-3/"
    assert read("r", environment, separate_ranks=False).own_prefix == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), ("", None), ("4", 4 * 2**30), ("0.5", 2**29), ("0", 0)],
)
def test_how_much_of_points_may_wait_can_be_said(text, expected):
    environment = {} if text is None else {"SEAMARK_SPOOL_POINTS_GIB": text}

    assert read("r", environment).spool_points_bytes == expected


@pytest.mark.parametrize("text", ["-1", "much", "1e9", "0.12345", "\u0664"])
def test_another_amount_of_points_is_none(text):
    assert read("r", {"SEAMARK_SPOOL_POINTS_GIB": text}).spool_points_bytes is None


@pytest.mark.parametrize(
    ("variables", "rank", "local_rank", "world_size"),
    [
        # mpirun in a batch script, which is itself a process of SLURM's.
        (
            {
                "SLURM_PROCID": "0",
                "SLURM_LOCALID": "0",
                "OMPI_COMM_WORLD_RANK": "5",
                "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                "OMPI_COMM_WORLD_SIZE": "8",
            },
            *(5, 1, 8),
        ),
        (
            {
                "SLURM_PROCID": "0",
                "SLURM_LOCALID": "0",
                "PMI_RANK": "5",
                "MPI_LOCALRANKID": "1",
                "PMI_SIZE": "8",
            },
            *(5, 1, 8),
        ),
        (
            {
                "SLURM_PROCID": "5",
                "SLURM_LOCALID": "1",
                "SLURM_STEP_NUM_TASKS": "8",
            },
            *(5, 1, 8),
        ),
        # torchrun below srun.
        (
            {
                "SLURM_PROCID": "1",
                "SLURM_LOCALID": "0",
                "RANK": "5",
                "LOCAL_RANK": "1",
                "WORLD_SIZE": "8",
            },
            *(5, 1, 8),
        ),
        # The batch script itself, of a job of eight tasks.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, 0, None, 1),
    ],
)
def test_what_the_nearest_launcher_says_holds(variables, rank, local_rank, world_size):
    settings = read("r", variables)

    assert (settings.rank, settings.local_rank) == (rank, local_rank)
    assert settings.world_size == world_size


class Stage(str, Enum):
    TRAIN = "train"


def test_of_a_member_of_an_enumeration_its_value_is_meant():
    settings = read("r", stage=Stage.TRAIN)

    assert settings.namespace == "monitoring/train"
    assert type(settings.stage) is str
