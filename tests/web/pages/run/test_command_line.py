"""A command line taken apart."""

import pytest

from web.pages.run.command_line import Argument, arguments_of, short_command


def pairs(command):
    return [(found.name, found.value) for found in arguments_of(command)]


def test_options_stand_with_what_follows_them():
    assert pairs("python train.py data --lr=0.1 --seed 7 --amp --layers 1 2 -v") == [
        ("1", "data"),
        ("--lr", "0.1"),
        ("--seed", "7"),
        ("--amp", ""),
        ("--layers", "1 2"),
        ("-v", ""),
    ]


def test_what_comes_before_the_script_is_not_its():
    assert pairs("torchrun --nproc 8 train.py --lr 1") == [("--lr", "1")]
    assert pairs("python -m jobs.train --lr 1") == [("--lr", "1")]


def test_a_negative_number_is_no_option():
    assert pairs("python a.py --shift -1.5") == [("--shift", "-1.5")]


def test_quotes_are_taken_off():
    assert pairs("a.py --note 'two words'") == [("--note", "two words")]


@pytest.mark.parametrize("command", ["", "a.py --note 'open", "python"])
def test_what_no_shell_could_read_has_no_arguments(command):
    assert arguments_of(command) == []


def test_very_many_are_cut():
    assert len(arguments_of("a.py " + "x " * 10_000)) == 200
    assert arguments_of("a.py x")[0] == Argument("1", "x")


@pytest.mark.parametrize(
    ("command", "short"),
    [
        (
            "/opt/env/bin/python3 -u /home/ada/code/train.py --data /data/x",
            "python3 -u train.py --data /data/x",
        ),
        ("/usr/bin/python -m /odd/name 'two words'", "python -m name 'two words'"),
        (r"'C:\env\python.exe' 'C:\code\train.py'", "python.exe train.py"),
        ("./serve", "serve"),
        ("/bin/", "/bin/"),
        ("", ""),
        ("an 'open quote", "an 'open quote"),
    ],
)
def test_a_short_command_names_its_interpreter_and_its_script(command, short):
    assert short_command(command) == short
