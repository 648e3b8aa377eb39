"""A run's first page."""

import pytest
from django.db.models.signals import post_init

from tests.builders import (
    Process,
    close_message,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tests.diagnoses import finding
from tests.web.sample_run import make_sample_run, settle
from tracker.models import Attribute, Finding
from tracker.queries.key_values import MOST_METRICS, MOST_PARAMS
from web.views.run import together

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NAMESPACES = ("params", "model", "monitoring/train", "monitoring/train/rank-1/facts")
HOSTILE = "<script>alert(1)</script>\"'../../__proto__\u202e"


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def page(client_of, member):
    """Return a function that gives the text of a run's page."""
    client = client_of(member)

    def read(run, tab="", **headers):
        response = client.get(f"/runs/{run.id}/{tab}", headers=headers)
        assert response.status_code == 200
        return response.content.decode()

    return read


def test_says_first_why_training_was_slow_and_what_to_try(project, page):
    text = page(make_sample_run(project))

    finding, metrics = text.index("Too few processes load"), text.index("Key metrics")
    assert text.index('id="stage-1"') < finding < metrics
    assert text.index("<h2", text.index('id="run-overview"')) < finding
    assert "DataLoader(dataset, num_workers=1, persistent_workers=True)" in text
    assert "likely</span>" in text
    assert "at most</span>" in text
    assert "What would disprove it" in text
    assert "confirmed" in text


def test_training_comes_before_the_stages_that_began_earlier(project, page):
    text = page(make_sample_run(project))

    assert (
        text.index(">train</h2>")
        < text.index(">preprocess</h2>")
        < text.index(">infer</h2>")
    )


def test_unanswered_rules_say_what_would_answer_them(project, page):
    text = page(make_sample_run(project))

    assert "unanswered" in text
    assert "for batch in run.loader(loader):" in text


def test_key_metrics_leave_out_what_the_agent_measured(project, page):
    metrics = page(make_sample_run(project)).partition("Key metrics")[2]

    assert "train/<wbr>loss" in metrics
    assert "monitoring/" not in metrics


def test_a_run_nobody_diagnosed_says_what_is_missing(project, page):
    text = page(make_run(project))

    assert "No diagnosis yet" in text
    assert "for batch in run.loader(loader):" in text
    assert "No metric logged yet" in text


def test_a_failed_stage_shows_why(project, page):
    run = make_run(project, state="failed", failure="ValueError: shapes do not match")

    assert "ValueError: shapes do not match" in page(run)


def test_a_preempted_stage_says_that_it_was_told_to_end(project, page):
    shown = page(make_run(project, state="preempted"))

    assert "told to end before it was done" in shown
    assert "chip--preempted" in shown


def test_a_crashed_stage_says_that_nobody_knows_why(project, page):
    assert "stopped without a word" in page(make_run(project, state="crashed"))


def test_a_live_run_refreshes_itself_and_a_finished_one_does_not(project, page):
    live, ended = make_run(project, "live"), make_run(project, "ended", "finished")

    assert page(live).count('hx-trigger="every') == 2
    assert "every" not in page(ended)


def test_a_refresh_gets_the_body_alone(project, page):
    text = page(make_run(project), **{"HX-Request": "true"})

    assert text.startswith('<div id="run-overview"')
    assert "<html" not in text


def test_the_header_alone_keeps_a_live_page_true(project, page):
    text = page(make_run(project), "header")

    assert text.startswith('<header id="run-header"')
    assert "running" in text


def test_names_are_shown_as_text(project, page):
    run = make_run(project, HOSTILE, "failed", failure=HOSTILE)
    write_values(run, {f"params/{HOSTILE}": HOSTILE})
    settle(run)

    for tab in ("", "charts", "hardware", "attributes"):
        assert "<script>alert" not in page(run, tab)


def test_the_snippet_that_joins_the_run_is_python_whatever_its_name(project, page):
    text = page(make_run(project, 'a"b\\c'))

    assert r"agent.init(&quot;a\&quot;b\\c&quot;, project=&quot;vision&quot;" in text


def test_values_that_are_not_finite_are_shown_as_such(project, page):
    run = make_run(project)
    write_series(run, "train/loss", [1.0, float("inf"), float("nan")])
    write_values(run, {"params/limit": float("-inf")})
    settle(run)

    text = page(run)
    assert "NaN" in text
    assert "\N{MINUS SIGN}∞" in text


@pytest.mark.parametrize("tab", ["", "header", "charts", "hardware", "attributes"])
def test_a_stranger_finds_nothing(project, client_of, stranger, tab):
    run = make_run(project)

    assert client_of(stranger).get(f"/runs/{run.id}/{tab}").status_code == 404


@pytest.mark.parametrize("tab", ["", "header", "charts", "hardware", "attributes"])
def test_who_is_not_signed_in_is_asked_to(project, client, tab):
    response = client.get(f"/runs/{make_run(project).id}/{tab}")

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/sign-in")


@pytest.mark.parametrize("tab", ["", "charts", "hardware", "attributes"])
def test_a_page_costs_the_same_few_statements_however_long_the_run(
    project, client_of, member, tab, django_assert_max_num_queries
):
    run = make_sample_run(project)
    client = client_of(member)

    with django_assert_max_num_queries(29):
        assert client.get(f"/runs/{run.id}/{tab}").status_code == 200


@pytest.mark.parametrize("tab", ["", "header", "charts", "hardware", "attributes"])
def test_a_page_reads_no_attribute_that_it_does_not_show(project, page, tab):
    run = make_run(project, state="finished")
    write_values(run, {f"{name}/{n}": n for name in NAMESPACES for n in range(200)})
    read = []

    def note(instance, **_):
        read.append(instance.path)

    post_init.connect(note, sender=Attribute)
    try:
        page(run, tab)
    finally:
        post_init.disconnect(note, sender=Attribute)

    assert len(read) <= MOST_METRICS + MOST_PARAMS


def test_points_the_agent_dropped_are_owned_up_to(project, page):
    process = Process(project, "lossy")
    process.open()
    process.send([close_message(time=process.opening["time"] + 1)])
    spool = process.spool
    spool.dropped_points = 12
    spool.save(update_fields=["dropped_points"])

    assert "dropped 12 points" in page(spool.run)


def test_what_is_only_possible_is_folded_and_hides_no_health(project, page):
    run = make_sample_run(project, has_gpu=True)
    Finding.objects.filter(run=run).update(confidence=0.35)

    text = page(run)

    assert text.index("No bottleneck found") < text.index('id="possible-1"')
    assert text.index('id="possible-1"') < text.index("Too few processes load")


def test_a_cause_is_shown_with_what_its_symptoms_explain(project, page):
    text = page(make_sample_run(project))

    assert "Explains 2 other findings" in text or "Explains 3 other findings" in text
    assert "Training waits for data" in text


def test_a_rule_speaks_once_for_all_gpus():
    found = [
        finding("gpu-is-the-limit", scope="gpu/0"),
        finding("too-few-loader-workers"),
        finding("gpu-is-the-limit", scope="gpu/1"),
    ]

    shown = together(found)

    assert [f.rule for f in shown] == ["gpu-is-the-limit", "too-few-loader-workers"]
    assert shown[0].also_on == ("gpu/1",)
