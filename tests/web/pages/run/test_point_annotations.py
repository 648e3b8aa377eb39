"""Texts at charts, as pages write them."""

import orjson
import pytest

from tests.builders import make_member, make_project, make_run, write_series
from tracker.models import Annotation

pytestmark = pytest.mark.django_db

PATH = "train/loss"


@pytest.fixture
def run(member):
    run = make_run(make_project(member))
    write_series(run, PATH, [3.0, 2.0, 1.0], steps=[0, 10, 20])
    return run


def add(browser, run, text="new data", step="10"):
    fields = {"path": PATH, "step": step, "text": text}
    return browser.post(f"/runs/{run.id}/annotations", fields).status_code


def marks(browser, run, query=""):
    address = f"/runs/{run.id}/figures/series?path={PATH}{query}"
    return orjson.loads(browser.get(address).content)["marks"]


def test_is_written_shown_changed_and_deleted(client_of, member, run):
    browser = client_of(member)

    assert add(browser, run) == 204
    (mark,) = marks(browser, run)
    assert (mark["x"], mark["text"], mark["author"]) == (10, "new data", "ada")
    address = f"/runs/{run.id}/annotations/{mark['id']}"

    assert browser.post(f"{address}/edit", {"text": "newer"}).status_code == 204
    (mark,) = marks(browser, run)
    assert mark["text"] == "newer"
    assert mark["edited"]

    assert browser.post(f"{address}/delete").status_code == 204
    assert marks(browser, run) == []
    assert browser.post(f"{address}/delete").status_code == 404
    assert browser.post(f"{address}/restore").status_code == 204
    (mark,) = marks(browser, run)
    assert mark["text"] == "newer"
    assert browser.post(f"{address}/restore").status_code == 404


@pytest.mark.parametrize(
    ("axis", "expected"),
    [("&axis=relative", 1.0), ("&axis=series&over=train/epoch", 0.5)],
)
def test_stands_at_its_point_on_every_axis(client_of, member, run, axis, expected):
    write_series(run, "train/epoch", [0.0, 1.0], steps=[0, 20])
    browser = client_of(member)
    add(browser, run)

    assert marks(browser, run, axis)[0]["x"] == expected


@pytest.mark.parametrize("text", ["", "x" * 1_001])
def test_refuses_what_says_nothing_or_too_much(client_of, member, run, text):
    assert add(client_of(member), run, text) == 400


@pytest.mark.parametrize("step", ["", "nan", "here"])
def test_refuses_what_is_no_step(client_of, member, run, step):
    assert add(client_of(member), run, step=step) == 400


def test_a_viewer_reads_and_does_not_write(client_of, member, run):
    add(client_of(member), run)
    viewer = client_of(make_member("grace", "viewer", workspace=member.workspace))

    assert add(viewer, run) == 403
    (mark,) = marks(viewer, run)
    address = f"/runs/{run.id}/annotations/{mark['id']}"
    assert viewer.post(f"{address}/delete").status_code == 403
    assert viewer.post(f"{address}/edit", {"text": "x"}).status_code == 403
    assert Annotation.objects.count() == 1


def test_who_deleted_a_text_brings_it_back_or_an_owner(client_of, member, run):
    eve = client_of(make_member("eve", "member", workspace=member.workspace))
    add(eve, run)
    address = f"/runs/{run.id}/annotations/{Annotation.objects.get().id}"

    client_of(member).post(f"{address}/delete")
    assert eve.post(f"{address}/restore").status_code == 403
    assert client_of(member).post(f"{address}/restore").status_code == 204
    eve.post(f"{address}/delete")
    assert eve.post(f"{address}/restore").status_code == 204


def test_a_stranger_finds_nothing(client_of, member, run, stranger):
    add(client_of(member), run)
    annotation = Annotation.objects.get()
    address = f"/runs/{run.id}/annotations"

    assert add(client_of(stranger), run) == 404
    for action in ("edit", "delete"):
        path = f"{address}/{annotation.id}/{action}"
        assert client_of(stranger).post(path, {"text": "x"}).status_code == 404
