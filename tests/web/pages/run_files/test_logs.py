"""A run's texts."""

import pytest

import agent
from tests.builders import (
    START,
    Process,
    make_project,
    make_run,
    records_message,
    write,
)
from tests.web.figures.plotly_schema import numbers
from tracker.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(member):
    return make_run(make_project(member))


@pytest.fixture
def page(client_of, member, run):
    client = client_of(member)
    return lambda rest="": client.get(f"/runs/{run.id}/{rest}").content.decode()


def log(run, lines, path="logs/stdout"):
    write(run, [records_message(path, lines)])


def test_lines_can_be_read_without_script_and_are_never_markup(page, run):
    log(run, ["\x1b[31m<script>alert(1)</script>\x1b[0m"])

    text = page("logs")

    assert "&lt;script&gt;alert(1)&lt;/script&gt;\n" in text
    assert "<script>alert" not in text
    assert 'data-count="1"' in text


def test_a_log_is_chosen_by_its_path(page, run):
    log(run, ["out"])
    log(run, ["err"], "logs/stderr")

    assert 'data-path="logs/stdout"' in page("logs")
    assert 'data-path="logs/stderr"' in page("logs?path=logs/stderr")
    assert 'data-path="logs/stdout"' in page("logs?path=no\0thing")


def test_what_was_printed_last_is_chosen_by_itself(page, run):
    for stage, first in (("train", 5), ("infer", 9), ("aaa", 1)):
        path = f"monitoring/{stage}/stdout"
        write(run, [records_message(path, ["x"], times=[START + first])])

    text = page("logs")

    assert 'data-path="monitoring/infer/stdout"' in text
    assert ">train/stdout</bdi>" in text


def test_of_many_logs_one_is_chosen_by_stage_rank_and_stream(page, run):
    for rank in range(1, 9):
        log(run, ["x"], f"monitoring/train/rank-{rank}/stdout")
    log(run, ["x"], "monitoring/train/rank-3/stderr")

    text = page("logs?rank=3&stream=stderr")

    assert 'data-path="monitoring/train/rank-3/stderr"' in text
    assert '<option value="3" selected>3</option>' in text
    assert '<option value="stderr" selected>stderr</option>' in text
    assert 'name="stage"' not in text
    # A rank without that stream is shown with its own.
    assert 'data-path="monitoring/train/rank-8/stdout"' in page(
        "logs?rank=8&stream=stderr"
    )


def test_what_is_looked_for_is_in_the_address(page, run):
    log(run, ["x"])

    assert 'value="&lt;lr&gt;"' in page("logs?text=%3Clr%3E")


def test_few_texts_are_a_table_and_many_a_log(page, run):
    log(run, ["a cat"], "samples/caption")
    assert '<td class="wrap run__text">a cat</td>' in page("logs")

    log(run, ["a dog"] * 50, "samples/caption")
    assert 'data-path="samples/caption"' in page("logs")


def test_a_run_without_text_says_how_to_log_some(page, run):
    assert ">Logs</a>" in page()
    assert "No logs yet" in page("logs")


def test_attributes_say_what_series_of_records_hold(page, run):
    log(run, ["one", "the last"])
    write(run, [records_message("grads", [encoded()], kind="histogram")])

    text = page("attributes?search=/")

    assert "2 entries</a>, last" in text
    assert "the last" in text
    assert "1 histogram</a>, last at step 0" in page("attributes")


def encoded(scale=1.0):
    return agent.Histogram([0.0, scale, scale], bins=2).encoded()


def test_histograms_are_among_the_charts(page, run):
    write(run, [records_message("train/grads", [encoded()], kind="histogram")])

    text = page("charts")

    assert "figures/histograms?path=train%2Fgrads" in text
    assert "1 series" in text


@pytest.mark.parametrize(
    ("axis", "x"),
    [
        ("step", [1.0, 2.0]),
        ("time", [START / 1e3 + 1e3, START / 1e3 + 2e3]),
        ("relative", [1.0, 2.0]),
    ],
)
def test_histograms_are_drawn_over_the_axis_asked_for(client_of, member, run, axis, x):
    values = [encoded() for _ in range(3)]
    write(run, [records_message("grads", values, kind="histogram")])
    address = f"/runs/{run.id}/figures/histograms?path=grads&axis={axis}&low={x[0]}"

    figure = client_of(member).get(address).json()

    (drawn,) = figure["data"]
    assert numbers(drawn["x"]).tolist() == x
    assert numbers(drawn["customdata"]).tolist() == [[1, 1], [2, 2]]


def test_of_very_many_histograms_some_are_drawn(client_of, member, run, monkeypatch):
    monkeypatch.setattr("web.pages.charts.figures.MAX_HISTOGRAMS", 3)
    for first in (0, 4):
        steps = range(first, first + 4)
        message = records_message(
            "grads", [encoded()] * 4, kind="histogram", steps=list(steps)
        )
        write(run, [message])

    address = f"/runs/{run.id}/figures/histograms?path=grads"
    figure = client_of(member).get(address).json()

    assert numbers(figure["data"][0]["x"]).tolist() == [0, 4, 7]
    assert figure["notes"] == ["Showing 3 of 8 histograms, evenly sampled."]


def test_histograms_that_do_not_exist_are_an_empty_chart(client_of, member, run):
    log(run, ["text"])
    client = client_of(member)

    for path in ("nothing", "logs/stdout"):
        figure = client.get(f"/runs/{run.id}/figures/histograms?path={path}").json()
        assert figure["data"] == []


@pytest.mark.parametrize("path", ["logs/stdout", "samples/caption"])
def test_a_text_that_several_processes_write_says_so(page, run, path):
    for rank in (0, 1):
        process = Process(run.project, run.name, rank=rank)
        process.open()
        process.send([records_message(path, ["a cat", "a dog"])])

    assert "Logged by ranks 0 and 1 in parallel" in page("logs")
    assert "logged by ranks 0 and 1 in parallel" in page("attributes")


def test_a_text_of_one_process_says_nothing_of_who_wrote_it(page, run):
    log(run, ["a", "b"])

    assert "Logged by ranks" not in page("logs")


@pytest.mark.parametrize(
    ("state", "last", "shown"),
    [
        ("failed", "Traceback (most recent call last):", "stderr"),
        ("failed", "a warning", "stdout"),
        ("finished", "Traceback (most recent call last):", "stdout"),
    ],
)
def test_a_failed_run_opens_the_log_with_the_traceback(page, run, state, last, shown):
    log(run, ["out"])
    log(run, [last, "ValueError: no data"], "logs/stderr")
    Run.objects.filter(id=run.id).update(state=state)

    assert f'data-path="logs/{shown}"' in page("logs")
