"""Downloads from a hostile server: no file outside the target folder."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from seamark.errors import CannotRead, InvalidSetting
from seamark.reading.downloads import StoredFile, StoredFiles, safe_name

HOSTILE = [
    "../escaped",
    "../../../../tmp/escaped",
    "/etc/passwd",
    "a/../../escaped",
    "a/..",
    "..",
    ".",
    "C:\\Windows\\x",
    "a\\..\\..\\escaped",
    "nul\0byte",
    "con",
    "x:y::$DATA",
    "trailing. ",
    "\u202egnp.exe",
    "~/escaped",
    "$HOME/escaped",
    "x" * 3000,
    "\ud800",
    "a//b",
]


def files(contents, *, path="model", digest=None):
    """Files of these paths, as a server would list and send them."""
    listed = [
        StoredFile(
            path=name,
            name=name.rpartition("/")[2] or "f",
            size=len(data),
            media_type="text/plain",
            digest=digest or hashlib.sha256(data).hexdigest(),
            is_stored=True,
        )
        for name, data in contents.items()
    ]
    return StoredFiles(
        path,
        list_files=lambda prefix: [f for f in listed if f.path.startswith(prefix)],
        read=lambda file: io.BytesIO(contents[file.path]),
    )


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_nothing_is_written_outside(tmp_path, name):
    folder = tmp_path / "deep/er/there"
    contents = {f"model/{name}": b"x", "model/good": b"y"}

    written = files(contents).download(folder)

    assert len({*written}) == 2
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or path.is_relative_to(folder)
    assert all(path.resolve().is_relative_to(folder) for path in written)
    assert not Path("/tmp/escaped").exists()


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_name_is_one_part(name):
    safe = safe_name(name)

    assert safe not in ("", ".", "..")
    assert not set("/\\\0:") & set(safe)
    assert len(safe.encode()) <= 201


def test_links_in_the_way_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "sub").symlink_to(outside)
    (folder / "best").symlink_to(outside / "target")

    files({"model/sub/x": b"x", "model/best": b"y"}).download(folder)

    assert not any(outside.iterdir())
    assert (folder / "best").read_bytes() == b"y"
    assert not (folder / "best").is_symlink()


def test_twins_and_files_in_the_way_of_folders_are_told_apart(tmp_path):
    contents = {"model/a": b"1", "model/A": b"2", "model/a/b": b"3", "model/a?": b"4"}

    written = files(contents).download(tmp_path)

    assert sorted(path.read_bytes() for path in written) == [b"1", b"2", b"3", b"4"]


def test_one_file_goes_where_it_is_asked_for(tmp_path):
    one = files({"model/best": b"x"}, path="model/best")

    assert one.download(tmp_path / "here.pt") == [tmp_path / "here.pt"]
    assert one.download(tmp_path) == [tmp_path / "best"]
    assert one.download(f"{tmp_path}/new/") == [tmp_path / "new/best"]


@pytest.mark.parametrize("content", [b"other", b"x" * 10, b""])
def test_what_came_damaged_leaves_what_was_there(tmp_path, content):
    (tmp_path / "best").write_bytes(b"before")
    damaged = files({"model/best": content}, digest="0" * 64, path="model/best")

    with pytest.raises(CannotRead):
        damaged.download(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["best"]
    assert (tmp_path / "best").read_bytes() == b"before"


def test_an_endless_answer_is_cut_off(tmp_path):
    class Endless(io.RawIOBase):
        sent = 0

        def read(self, count=-1):
            Endless.sent += count
            return b"x" * count

    file = StoredFile("f", "f", 10, "", "0" * 64, is_stored=True)
    endless = StoredFiles("f", list_files=lambda _: [file], read=lambda _: Endless())

    with pytest.raises(CannotRead):
        endless.download(tmp_path / "f")

    assert Endless.sent < 100
    assert not any(tmp_path.iterdir())


def test_pictures_of_a_series_go_beside_each_other(tmp_path):
    listed = [
        StoredFile(
            path="samples",
            name=f"samples-{step}.png",
            size=1,
            media_type="image/png",
            digest=hashlib.sha256(step.encode()).hexdigest(),
            is_stored=True,
        )
        for step in "37"
    ]
    series = StoredFiles(
        "samples",
        list_files=lambda _: listed,
        read=lambda file: io.BytesIO(file.name[-5].encode()),
    )

    written = series.download(tmp_path)

    assert [path.name for path in written] == ["samples-3.png", "samples-7.png"]


def test_what_has_not_arrived_is_said(tmp_path):
    file = StoredFile("f", "f", 10, "", "0" * 64, is_stored=False)
    absent = StoredFiles("f", list_files=lambda _: [file], read=lambda _: io.BytesIO())

    with pytest.raises(CannotRead, match="not arrived"):
        absent.download(tmp_path)
    with pytest.raises(CannotRead, match="no file"):
        files({}).download(tmp_path)


def absent(name):
    path = f"model/{name}"
    return StoredFile(path, name, 1, "", "0" * 64, is_stored=False)


def test_a_folder_is_taken_without_what_has_not_arrived_if_that_is_said(tmp_path):
    here = files({"model/a": b"1", "model/b": b"2"})
    some = StoredFiles(
        "model",
        list_files=lambda prefix: [absent("c"), *here._list_files(prefix), absent("d")],
        read=here._read,
    )

    with pytest.raises(CannotRead, match=r"'model/c' and 1 more .* missing='skip'"):
        some.download(tmp_path / "all")
    written = some.download(tmp_path / "some", missing="skip")

    assert not (tmp_path / "all").exists()
    assert [path.name for path in written] == ["a", "b"]
    assert {path.name for path in (tmp_path / "some").iterdir()} == {"a", "b"}


def test_pictures_keep_their_names_where_some_have_not_arrived(tmp_path):
    first = StoredFile("samples/v", "v-1.png", 1, "", "0" * 64, is_stored=False)
    digest = hashlib.sha256(b"2").hexdigest()
    second = StoredFile("samples/v", "v-2.png", 1, "", digest, is_stored=True)

    for path in ("samples/v", "samples"):
        pictures = StoredFiles(
            path,
            list_files=lambda _: [first, second],
            read=lambda _: io.BytesIO(b"2"),
        )
        (written,) = pictures.download(tmp_path / path, missing="skip")
        assert written.name == "v-2.png"


def test_one_file_that_has_not_arrived_can_be_passed_over(tmp_path):
    one = StoredFiles(
        "model/a", list_files=lambda _: [absent("a")], read=lambda _: io.BytesIO()
    )

    assert one.download(tmp_path, missing="skip") == []
    with pytest.raises(InvalidSetting, match="missing must be one of raise, skip"):
        one.download(tmp_path, missing="ignore")
