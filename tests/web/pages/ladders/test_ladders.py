"""The pages of ladders: the list, one ladder, and the form that changes it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from tests.builders import (
    START,
    make_member,
    make_project,
    make_run,
    write_tags,
    write_values,
)
from tests.ladder_runs import DEMO, NOTES, Job, make_measured_run
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.prices import set_price
from tracker.models import Diagnosis, Ladder, Role, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def viewer(client_of, project):
    return client_of(make_member("vera", Role.VIEWER, workspace=project.workspace))


@pytest.fixture
def runs(project):
    return [make_run(project, name, "finished") for name in ("first", "second")]


@pytest.fixture
def ladder(project, runs):
    return ladder_of(project, *runs)


@pytest.fixture
def listed(project):
    return reverse("ladders", args=[project.workspace.slug, project.slug])


def ladder_of(project, *runs, notes=None):
    notes = notes or [""] * len(runs)
    rung_requests = [
        RungRequest(str(run.id), note) for run, note in zip(runs, notes, strict=True)
    ]
    return create_ladder(project, "faster", rung_requests)


def page_of(visitor, ladder, name="ladder", **query) -> str:
    return visitor.get(reverse(name, args=[ladder.id]), query).content.decode()


def form_of(*runs, **fields):
    return {
        "name": "faster",
        "run": [str(run.id) for run in runs],
        "note": [f"note of {run.name}" for run in runs],
        "do": "save",
        **fields,
    }


def test_an_empty_list_says_what_a_ladder_is(visitor, viewer, listed):
    assert "A ladder is a series of runs" in visitor.get(listed).content.decode()
    assert "Create ladder" not in viewer.get(listed).content.decode()


def test_lists_ladders_with_their_rungs(visitor, listed, ladder):
    page = visitor.get(listed).content.decode()

    assert reverse("ladder", args=[ladder.id]) in page
    assert page.index("first") < page.index("second")


@pytest.mark.parametrize("name", ["ladders", "ladder", "ladder-edit"])
def test_a_silent_rung_is_marked(visitor, project, listed, name):
    silent, ended = make_run(project, "silent"), make_run(project, "ended", "finished")
    ladder = ladder_of(project, silent, ended)
    Run.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))

    address = listed if name == "ladders" else reverse(name, args=[ladder.id])
    page = visitor.get(address).content.decode()

    assert (
        page.count("running, but not responding for 5 min") == 2
    )  # as a hint, and as a text
    assert "chip--running" not in page


def test_tells_what_each_rung_was_worth(visitor, project):
    runs = [make_measured_run(project, job) for job in DEMO]
    page = page_of(visitor, ladder_of(project, *runs, notes=NOTES))

    assert "× faster" in page
    assert "baseline</bdi> → <bdi>larger batch" in page
    assert "“decoded ahead”" in page
    assert "decoded_ahead</span> <del>false</del>" in page
    assert "no GPU" in page
    assert "Predicted vs. achieved" in page
    assert "fixed" in page


def test_tells_what_was_learned_and_what_is_left(visitor, project):
    faster = Job("batch-64", wait_seconds=0.001, batch_size=64, loss=0.6)
    runs = [make_measured_run(project, job) for job in (DEMO[1], faster)]
    page = page_of(visitor, ladder_of(project, *runs))

    assert "Faster, but train/loss is worse than in the previous run" in page
    assert "its train/loss is worse than that of “decoded”" in page
    assert re.search(r"after [\d,]+ examples, worse, ±", page)
    assert "Remaining potential" in page


@pytest.mark.parametrize("name", ["ladder", "ladder-report"])
def test_explains_why_a_faster_run_took_longer(visitor, project, name):
    runs = [make_measured_run(project, job) for job in (DEMO[0], DEMO[3])]
    page = page_of(visitor, ladder_of(project, *runs), name)

    assert "processed 4 times as many examples as “baseline”" in page
    assert "longer" in page
    assert "<dt>Stage train" not in page


def test_a_run_too_short_to_judge_says_so(visitor, project):
    runs = [
        make_measured_run(project, job) for job in (DEMO[0], Job("short", steps=20))
    ]
    page = page_of(visitor, ladder_of(project, *runs))

    assert "not enough steady steps to judge" in page
    assert "Not enough data to compare" in page


def test_unknown_is_a_dash_never_zero(visitor, ladder):
    page = page_of(visitor, ladder)

    shown = re.findall(
        r"<dt>(?:Throughput|Mean step|Data wait|CPU|GPU)</dt><dd>(\S+?)[\s<]", page
    )
    assert shown == ["–", "–", "–", "–", "unknown"] * 2


def test_refreshes_its_parts_while_a_rung_runs(visitor, project):
    ladder = ladder_of(project, make_run(project, "live", "running"))
    address = reverse("ladder", args=[ladder.id])

    part = visitor.get(address, headers={"HX-Request": "true"}).content.decode()

    assert 'hx-trigger="every 5s"' in part
    assert "<html" not in part


def test_asks_for_nothing_once_all_rungs_have_ended(visitor, ladder):
    text = page_of(visitor, ladder)
    assert "hx-trigger" not in text[text.index('<main id="main"') :]


def test_the_figure_has_a_bar_for_each_rung(visitor, project):
    runs = [make_measured_run(project, job) for job in DEMO[:2]]
    address = reverse("ladder-figure", args=[ladder_of(project, *runs).id])

    per_example = visitor.get(address).json()
    per_step = visitor.get(address, {"per": "step"}).json()

    assert [trace["name"] for trace in per_example["data"]] == [
        "waiting for data",
        "forward",
        "backward",
        "everything else",
    ]
    assert per_example["layout"]["xaxis"]["title"]["text"] == "milliseconds per example"
    assert per_step["layout"]["xaxis"]["title"]["text"] == "milliseconds per step"


def test_bars_are_per_step_where_examples_are_not_counted(visitor, project):
    run = make_measured_run(project, Job("a", counts_examples=False))
    ladder = ladder_of(project, run)

    figure = visitor.get(reverse("ladder-figure", args=[ladder.id])).json()

    assert figure["layout"]["xaxis"]["title"]["text"] == "milliseconds per step"
    assert "Per example" not in page_of(visitor, ladder)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x>', "__proto__"]
)
def test_strange_names_are_shown_as_they_are(visitor, project, name):
    run = make_run(project, name, "finished")
    ladder = create_ladder(project, name, [RungRequest(str(run.id), name)])

    for page in (page_of(visitor, ladder), page_of(visitor, ladder, "ladder-edit")):
        assert "<script>alert" not in page
        assert "<img" not in page


@pytest.mark.parametrize(
    "query", [{"stage": "a\0"}, {"quality": "x" * 3_000}, {"per": "x"}]
)
def test_what_the_address_cannot_mean_is_the_usual(visitor, ladder, query):
    assert visitor.get(reverse("ladder", args=[ladder.id]), query).status_code == 200


def test_the_form_starts_with_the_runs_of_the_address(visitor, listed, runs):
    page = visitor.get(listed, {"runs": f"{runs[1].id},{runs[0].id}"}).content.decode()

    assert page.index(f'value="{runs[1].id}"') < page.index(f'value="{runs[0].id}"')


def test_makes_a_ladder(visitor, listed, runs):
    response = visitor.post(listed, form_of(*runs))

    ladder = Ladder.objects.get()
    assert response["Location"] == reverse("ladder", args=[ladder.id])
    assert [(rung.run.name, rung.note) for rung in ladder.rungs.all()] == [
        ("first", "note of first"),
        ("second", "note of second"),
    ]


def test_moving_a_row_saves_nothing_yet(visitor, ladder, runs):
    address = reverse("ladder-edit", args=[ladder.id])

    response = visitor.post(address, form_of(*runs, do=f"down:{runs[0].id}"))

    page = response.content.decode()
    assert page.index("note of second") < page.index("note of first")
    assert [rung.run.name for rung in ladder.rungs.all()] == ["first", "second"]


def test_saves_a_new_name_order_and_notes(visitor, ladder, runs):
    address = reverse("ladder-edit", args=[ladder.id])

    visitor.post(address, form_of(runs[1], runs[0], name="fastest"))

    ladder.refresh_from_db()
    assert ladder.name == "fastest"
    assert [(rung.run.name, rung.note) for rung in ladder.rungs.all()] == [
        ("second", "note of second"),
        ("first", "note of first"),
    ]


@pytest.mark.parametrize("name", ["", "x" * 201, "taken", "a\0"])
def test_a_refused_form_keeps_what_was_typed(visitor, ladder, project, runs, name):
    create_ladder(project, "taken", [RungRequest("first")])
    address = reverse("ladder-edit", args=[ladder.id])

    response = visitor.post(address, form_of(*runs, name=name))

    page = response.content.decode()
    assert response.status_code == 400
    assert 'role="alert"' in page
    assert "note of second" in page
    ladder.refresh_from_db()
    assert ladder.name == "faster"


def test_a_ladder_needs_a_rung(visitor, ladder):
    response = visitor.post(reverse("ladder-edit", args=[ladder.id]), form_of())

    assert response.status_code == 400
    assert ladder.rungs.count() == 2


def test_deletes_a_ladder(visitor, ladder, listed):
    response = visitor.post(reverse("ladder-delete", args=[ladder.id]))

    assert response["Location"] == listed
    assert not Ladder.objects.exists()


def test_deleting_needs_a_post(visitor, ladder):
    assert visitor.get(reverse("ladder-delete", args=[ladder.id])).status_code == 405
    assert Ladder.objects.exists()


def test_a_viewer_may_look_but_not_edit(viewer, ladder, listed, runs):
    assert "Edit" not in page_of(viewer, ladder)

    edit = reverse("ladder-edit", args=[ladder.id])
    refused = [
        viewer.get(edit),
        viewer.post(edit, form_of(*runs)),
        viewer.post(reverse("ladder-delete", args=[ladder.id])),
        viewer.post(listed, form_of(*runs)),
        viewer.get(listed, {"new": ""}),
    ]
    assert [response.status_code for response in refused] == [403] * 5
    assert Ladder.objects.count() == 1


@pytest.mark.parametrize(
    "name", ["ladder", "ladder-figure", "ladder-edit", "ladder-report"]
)
def test_for_a_stranger_there_is_no_such_ladder(name, client_of, stranger, ladder):
    visitor = client_of(stranger)

    assert visitor.get(reverse(name, args=[ladder.id])).status_code == 404
    assert visitor.post(reverse("ladder-delete", args=[ladder.id])).status_code == 404


def test_for_a_stranger_there_is_no_such_project(client_of, stranger, listed, runs):
    visitor = client_of(stranger)

    assert visitor.get(listed).status_code == 404
    assert visitor.post(listed, form_of(*runs)).status_code == 404


def test_nobody_is_asked_to_sign_in(client, ladder, listed):
    assert client.get(listed).status_code == 302
    assert client.get(reverse("ladder", args=[ladder.id])).status_code == 302


def test_a_forged_request_is_refused(ladder, member):
    from django.test import Client

    visitor = Client(enforce_csrf_checks=True)
    visitor.force_login(member.user)

    response = visitor.post(reverse("ladder-delete", args=[ladder.id]))

    assert response.status_code == 403
    assert Ladder.objects.exists()


def test_the_form_begins_with_the_runs_named_in_their_order(
    visitor, listed, runs, stranger
):
    hidden = make_run(make_project(stranger, "secret"), "hidden")
    named = ",".join(str(run.id) for run in (runs[1], hidden, runs[0]))

    page = visitor.get(listed, {"runs": named}).content.decode()

    assert 'value="second to first"' in page
    assert page.count('name="run"') == 2


def test_fifty_rungs_and_no_more(visitor, listed, project):
    for number in range(52):
        write_tags(make_run(project, f"run {number}", "finished"), "many")

    page = visitor.get(listed, {"tag": "many"}).content.decode()

    assert page.count('name="run"') == 50
    assert "2 were left out" in page


def test_the_form_orders_rungs_by_their_start(visitor, listed, project):
    late = make_run(project, "late", "finished", started_at=START + 2_000_000)
    early = make_run(project, "early", "finished", started_at=START + 1_000_000)

    response = visitor.post(listed, form_of(late, early, do="by-time"))

    page = response.content.decode()
    assert page.index("note of early") < page.index("note of late")
    assert not Ladder.objects.exists()


def test_a_note_is_edited_in_place(visitor, ladder, runs):
    address = reverse("ladder-note", args=[ladder.id, runs[1].id])

    response = visitor.post(f"{address}?per=step", {"note": " faster disk "})

    assert response["Location"].endswith(f"?per=step#rung-{runs[1].id}")
    assert [rung.note for rung in ladder.rungs.all()] == ["", "faster disk"]


@pytest.mark.parametrize("note", ["x" * 2_001, "a\0"])
def test_a_note_that_cannot_be_stored_is_refused(visitor, ladder, runs, note):
    address = reverse("ladder-note", args=[ladder.id, runs[1].id])

    assert visitor.post(address, {"note": note}).status_code == 400
    assert ladder.rungs.exclude(note="").count() == 0


def test_only_rungs_have_notes(visitor, ladder, project):
    other = make_run(project, "other")

    address = reverse("ladder-note", args=[ladder.id, other.id])
    assert visitor.post(address, {"note": "x"}).status_code == 404


def test_a_viewer_writes_no_notes_and_makes_no_ladders(viewer, ladder, runs, listed):
    note = reverse("ladder-note", args=[ladder.id, runs[0].id])

    assert viewer.post(note, {"note": "x"}).status_code == 403
    assert viewer.post(listed, form_of(*runs)).status_code == 403
    assert "Edit note" not in page_of(viewer, ladder)
    assert ladder.rungs.exclude(note="").count() == 0


def test_costs_are_told_with_the_project_s_own_price(visitor, project):
    run = make_measured_run(project, DEMO[0])
    ladder = ladder_of(project, run)
    assert "<dt>Cost</dt>" not in page_of(visitor, ladder)

    Diagnosis.objects.filter(run=run).update(
        ledger={"gpus": 2, "computing": 3600.0, "idle": 3600.0}
    )
    set_price(project, 3.0, "EUR")

    assert "<dt>Cost</dt><dd>6.00 EUR</dd>" in page_of(visitor, ladder)


def test_shows_how_busy_the_cores_were_from_beginning_to_end(visitor, project):
    page = page_of(visitor, ladder_of(project, make_measured_run(project, DEMO[0])))

    assert 'class="strip"' in page
    assert "CPU over the stage: mean 50 %" in page


def test_a_report_has_no_buttons_but_everything_that_counts(viewer, project):
    runs = [make_measured_run(project, job) for job in DEMO]
    page = page_of(viewer, ladder_of(project, *runs, notes=NOTES), "ladder-report")

    assert "times the steady throughput of the baseline" in page
    assert page.count('class="ladder-report__bar"') == 4
    assert "Runs of the ladder" in page
    assert 'method="post" action="/ladders' not in page


@pytest.mark.parametrize("name", ["ladder", "ladder-report"])
def test_runs_without_steps_or_with_nan_break_nothing(visitor, project, name):
    strange = make_run(project, "<b>x</b>" * 20, "failed")
    write_values(strange, {"params/lr": float("nan"), "test/accuracy": float("inf")})
    page = page_of(visitor, ladder_of(project, make_run(project, "a"), strange), name)

    assert "NaN" in page
    assert "<b>x</b>" not in page
