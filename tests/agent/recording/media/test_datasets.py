from pathlib import Path

import pytest

from seamark.recording.media.datasets import find_data_folder


class Holds:
    def __init__(self, **held):
        self.__dict__.update(held)


class OfClass:
    data_path = "/of/the/class"


class Slotted:
    __slots__ = ("root",)


class Raises:
    @property
    def __dict__(self):
        raise RuntimeError

    @property
    def root(self):
        raise AssertionError("no code of a dataset runs")


@pytest.mark.parametrize(
    ("loader", "folder"),
    [
        (Holds(dataset=Holds(root="/data/train")), "/data/train"),
        (Holds(dataset=Holds(root_dir=Path("/data") / "a")), "/data/a"),
        (Holds(dataset=Holds(dataset=Holds(data_dir="/d"))), "/d"),
        (
            Holds(dataset=Holds(datasets=[Holds(path="/one"), Holds(path="/two")])),
            "/one",
        ),
        (Holds(dataset=OfClass()), "/of/the/class"),
    ],
    ids=["root", "a path", "a subset", "several", "a class"],
)
def test_a_dataset_says_where_its_files_lie(loader, folder):
    assert find_data_folder(loader) == Path(folder)


def test_a_relative_folder_is_below_the_working_directory():
    assert find_data_folder(Holds(dataset=Holds(root="data"))) == Path.cwd() / "data"


@pytest.mark.parametrize(
    "loader",
    [
        [1, 2],
        Holds(root="/of/the/loader"),
        Holds(dataset=Holds(root="s3://bucket/key")),
        Holds(dataset=Holds(root="")),
        Holds(dataset=Holds(root=["/a"])),
        Holds(dataset=Holds(root="a\0b")),
        Holds(dataset=Holds(root="x" * 5_000)),
        Holds(dataset=Raises()),
        Holds(dataset=Slotted()),
        Holds(dataset=Holds(datasets=[])),
        None,
    ],
)
def test_what_names_no_folder_is_unknown_and_runs_no_code(loader):
    assert find_data_folder(loader) is None


def test_what_wraps_itself_comes_to_an_end():
    loader = Holds()
    loader.dataset = loader

    assert find_data_folder(loader) is None
