import hashlib
import io
import zipfile

import pytest

from tests.builders import make_project, make_run, write
from tracker.actions.files import receive
from tracker.models import Attribute, File, Kind

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LARGE = bytes(range(256)) * 8_192  # 2 MiB


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return tmp_path / "files"


def file_message(path, content, *, name="best.pt", kind="application/octet-stream"):
    return {
        "t": "file",
        "path": path,
        "digest": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "type": kind,
        "name": name,
    }


def deliver(run, content):
    digest = hashlib.sha256(content).hexdigest()
    receive(
        run.project.workspace_id,
        digest,
        size=len(content),
        offset=0,
        pieces=[content] if content else [],
    )


def add(run, path, content, **options):
    write(run, [file_message(path, content, **options)])
    deliver(run, content)


@pytest.fixture
def get(reader, run):
    def get(what="", headers=None, **query):
        return reader.get(f"/api/v1/runs/{run.id}/files{what}", query, headers=headers)

    return get


def body(response):
    return b"".join(response) if response.streaming else response.content


def test_a_file_that_was_said_is_listed_before_its_content_is_there(get, run):
    write(run, [file_message("model/best", b"abc")])

    [file] = get().json()["files"]

    assert file["path"] == "model/best"
    assert (file["size"], file["name"], file["is_stored"]) == (3, "best.pt", False)
    assert get("/content", path="model/best").status_code == 404


def test_a_content_that_comes_first_is_there_at_once(get, run):
    deliver(run, b"abc")
    write(run, [file_message("model/best", b"abc")])

    assert get().json()["files"][0]["is_stored"]
    assert get("/content", path="model/best").content == b"abc"


def test_the_last_one_said_counts(get, run):
    add(run, "model/best", b"old")
    add(run, "model/best", b"new")

    assert get("/content", path="model/best").content == b"new"
    assert File.objects.count() == 1
    assert Attribute.objects.get(path="model/best").kind == Kind.FILE


def test_a_path_that_holds_something_else_stays_what_it_is(run):
    from tests.builders import Process

    write(run, [{"t": "set", "path": "x", "value": 1}])
    process = Process(run.project, run.name)
    process.open()

    [refusal] = process.send([file_message("x", b"abc")]).refused

    assert refusal.code == "type_conflict"


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "abc"},
        {"digest": "../" * 21 + "a"},
        {"size": -1},
        {"type": "text/html; x"},
        {"name": ""},
        {"name": "x\0"},
        {"path": ""},
    ],
)
def test_an_invalid_file_message_is_refused(run, change):
    from tests.builders import Process

    process = Process(run.project, run.name)
    process.open()

    [refusal] = process.send([file_message("x", b"abc") | change]).refused

    assert refusal.code in ("invalid_message", "invalid_path")
    assert not File.objects.exists()


def test_pages_follow_each_other(get, run):
    write(run, [file_message(f"f/{n:02}", b"x") for n in range(7)])
    write(run, [file_message("other", b"x")])

    paths, cursor = [], ""
    while True:
        page = get(prefix="f/", limit=3, cursor=cursor).json()
        paths += [file["path"] for file in page["files"]]
        cursor = page["next"]
        if not cursor:
            break

    assert paths == [f"f/{n:02}" for n in range(7)]
    assert get(cursor="nonsense").status_code == 400


@pytest.mark.parametrize(
    ("asked", "status", "expected"),
    [
        ("bytes=0-9", 206, LARGE[:10]),
        ("bytes=100-", 206, LARGE[100:]),
        ("bytes=-5", 206, LARGE[-5:]),
        ("bytes=10-99999999", 206, LARGE[10:]),
        ("bytes=99999999-", 416, None),
        ("bytes=5-2", 200, LARGE),
        ("bytes=0-1,3-4", 200, LARGE),
        ("lines=1-2", 200, LARGE),
    ],
)
def test_a_range_is_answered(get, run, asked, status, expected):
    add(run, "model/best", LARGE)

    response = get("/content", {"range": asked}, path="model/best")

    assert response.status_code == status
    if status == 416:
        assert response["Content-Range"] == f"bytes */{len(LARGE)}"
        return
    assert body(response) == expected
    if status == 206:
        assert response["Content-Length"] == str(len(expected))
        assert response["Content-Range"].endswith(f"/{len(LARGE)}")


def test_a_range_of_another_content_is_answered_whole(get, run):
    add(run, "model/best", LARGE)

    headers = {"range": "bytes=0-9", "if-range": '"other"'}
    response = get("/content", headers, path="model/best")

    assert response.status_code == 200
    assert body(response) == LARGE


@pytest.mark.parametrize("name", ["x.html", "x.svg", "../../etc/passwd", 'a"b\r\nc'])
def test_no_content_is_ever_shown_as_a_page(get, run, name):
    add(run, "x", b"<script>alert(1)</script>", name=name, kind="text/html")

    response = get("/content", path="x")

    assert response["Content-Type"] == "application/octet-stream"
    disposition = response["Content-Disposition"]
    assert disposition.startswith("attachment; ")
    assert not set("\r\n/\\") & set(disposition)
    assert response["Content-Security-Policy"].startswith("sandbox")
    assert response["X-Content-Type-Options"] == "nosniff"


def test_all_below_a_prefix_come_as_one_archive(get, run):
    add(run, "model/best", LARGE)
    add(run, "model/../../etc/passwd", b"root", name="passwd")
    add(run, "model/a", b"1")
    add(run, "model/A", b"2")
    add(run, "model/a/b", b"3")
    write(run, [file_message("model/late", b"not there")])

    answer = body(get("/archive", prefix="model/"))
    archive = zipfile.ZipFile(io.BytesIO(answer))

    assert archive.testzip() is None
    assert archive.read("best.pt") == LARGE
    assert "late" in archive.read("NOT-ARRIVED.txt").decode()
    names = archive.namelist()
    assert len({name.casefold() for name in names}) == len(names) == 6
    assert all(".." not in name.split("/") for name in names)


def test_files_of_another_workspace_are_not_found(strange_reader, run):
    add(run, "model/best", b"abc")

    for what in ("", "/content?path=model/best", "/archive"):
        address = f"/api/v1/runs/{run.id}/files{what}"
        assert strange_reader.get(address).status_code == 404


def test_a_digest_of_another_workspace_gives_no_access(strange_reader, stranger, run):
    add(run, "model/best", b"secret")
    theirs = make_run(make_project(stranger, "theirs"), "spy")

    write(theirs, [file_message("stolen", b"secret")])

    answer = strange_reader.get(f"/api/v1/runs/{theirs.id}/files").json()
    assert answer["files"][0]["is_stored"] is False
    content = f"/api/v1/runs/{theirs.id}/files/content?path=stolen"
    assert strange_reader.get(content).status_code == 404
