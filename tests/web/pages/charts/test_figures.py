"""The figures of a run, as the browser gets them."""

from pathlib import Path

import numpy as np
import orjson
import pytest

from tests.builders import START, make_run, write_series
from tests.web.figures.plotly_schema import check_schema, numbers
from tests.web.sample_run import make_sample_run, settle
from tracker.actions.diagnoses.diagnoses import diagnose_run
from tracker.models import Finding
from web.pages.charts.figures import drawing_sources

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[4]
FIGURES = ["series?path=train/loss", "stages", "hardware"]


@pytest.fixture
def figure(client_of, member):
    """Return a function that gets a figure, refusing any that Plotly would refuse."""
    client = client_of(member)

    def get(run, name):
        response = client.get(f"/runs/{run.id}/figures/{name}")
        assert response.status_code == 200, response.content
        found = orjson.loads(response.content)
        check_schema(found)
        return found

    return get


@pytest.mark.parametrize("axis", ["step", "time", "relative"])
def test_a_series_is_drawn_over_the_axis_asked_for(project, figure, axis):
    run = make_run(project)
    write_series(run, "train/loss", [3.0, 2.0, 1.0])

    (line,) = figure(run, f"series?path=train/loss&axis={axis}")["data"]

    start = {"step": 0, "time": START / 1000, "relative": 0}[axis]
    second = 1000 if axis == "time" else 1
    assert numbers(line["x"]).tolist() == [start + second * n for n in range(3)]
    assert numbers(line["y"]).tolist() == [3.0, 2.0, 1.0]


def test_a_spike_among_many_points_is_in_what_is_drawn(project, figure):
    values = [1.0] * 20_000
    values[12_345] = 900.0
    run = make_run(project)
    write_series(run, "train/loss", values)
    settle(run)

    band, line = figure(run, "series?path=train/loss")["data"]

    assert numbers(band["y"]).max() == 900.0
    assert len(numbers(line["x"])) < 600


def test_a_zoom_gets_the_points_themselves(project, figure):
    run = make_run(project)
    write_series(run, "train/loss", [float(n) for n in range(20_000)])
    settle(run)

    found = figure(run, "series?path=train/loss&low=12000&high=12010")

    (line,) = found["data"]
    assert numbers(line["x"]).tolist() == list(range(12_000, 12_011))
    assert found["layout"]["xaxis"]["range"] == [12_000, 12_010]


def test_a_series_that_is_not_there_is_a_chart_without_points(project, figure):
    found = figure(make_run(project), "series?path=no/such")

    assert found["notes"] == ["No points in this range."]


@pytest.mark.parametrize("name", FIGURES)
def test_says_whether_more_may_come(project, figure, name):
    live, ended = make_run(project, "live"), make_run(project, "ended", "finished")

    assert figure(live, name)["live"] is True
    assert figure(ended, name)["live"] is False


@pytest.mark.parametrize("name", FIGURES)
def test_what_the_browser_holds_is_not_sent_again(project, client_of, member, name):
    client = client_of(member)
    run = make_run(project, state="finished")
    address = f"/runs/{run.id}/figures/{name}"
    etag = client.get(address).headers["ETag"]

    again = client.get(address, headers={"If-None-Match": etag})

    assert again.status_code == 304
    assert not again.content


def test_the_stages_have_a_bar_each_with_how_busy_they_were(project, figure):
    (bars,) = figure(make_sample_run(project, has_gpu=True), "stages")["data"]

    assert numbers(bars["x"]).tolist() == [35_000, 120_000, 12_000]
    assert bars["hovertext"][1] == "finished, 2 min, GPU idle 73 %, CPU 50 %"


def test_hardware_names_what_was_not_measured(project, figure):
    found = figure(make_sample_run(project), "hardware")

    assert found["notes"] == ["No GPU was visible to this run."]
    shapes = found["layout"]["shapes"]
    spans = {(s["x0"], s["x1"]) for s in shapes if s["type"] == "rect"}
    # Three stages, and the window of the main finding.
    assert len(spans) == 4


def test_hardware_of_one_stage_leaves_the_others_out(project, figure):
    found = figure(make_sample_run(project), "hardware?stage=infer")

    texts = [label["text"] for label in found["layout"]["annotations"]]
    assert texts[0] == "infer"
    assert not any("Step time" in text for text in texts)


def test_evidence_shows_the_share_of_waiting_with_its_limit(project, figure):
    run = make_sample_run(project)

    found = figure(run, "evidence?stage=train&rule=too-few-loader-workers&scope=")

    share = found["data"][0]
    assert share["name"] == "waiting for data"
    assert numbers(share["y"])[-1] == pytest.approx(62, abs=0.1)
    levels = [s["y0"] for s in found["layout"]["shapes"] if s["type"] == "line"]
    assert levels[0] == pytest.approx(10)


def test_evidence_of_a_symptom_can_be_seen_too(project, figure):
    run = make_sample_run(project)

    assert figure(run, "evidence?stage=train&rule=preprocessing-is-cpu-bound&scope=")


@pytest.mark.parametrize(
    ("name", "status"),
    [
        pytest.param("series", 400, id="no path"),
        pytest.param("series?path=a%00b", 400, id="a path with NUL"),
        pytest.param("series?path=a&axis=wall", 400, id="no such axis"),
        pytest.param("series?path=a&low=abc", 400, id="no number"),
        pytest.param("hardware?low=inf", 400, id="no finite number"),
        pytest.param("hardware?stage=nowhere", 404, id="no such stage"),
        pytest.param("evidence", 404, id="no finding named"),
        pytest.param("evidence?stage=train&rule=nothing", 404, id="no such finding"),
        pytest.param("pie", 404, id="no such figure"),
    ],
)
def test_refuses_in_json_what_it_does_not_understand(
    project, client_of, member, name, status
):
    response = client_of(member).get(
        f"/runs/{make_run(project).id}/figures/{name}",
        headers={"Accept": "application/json"},
    )

    assert response.status_code == status


@pytest.mark.parametrize("name", FIGURES)
def test_a_stranger_finds_nothing(project, client_of, stranger, name):
    run = make_run(project)

    address = f"/runs/{run.id}/figures/{name}"
    assert client_of(stranger).get(address).status_code == 404


def test_an_upgrade_of_whatever_draws_is_seen_at_once():
    drawn_by = {str(file.relative_to(ROOT)) for file in drawing_sources()}

    assert {
        "tracker/queries/series/chart_lines.py",
        "tracker/series/downsample.py",
        "web/pages/charts/figure_columns.py",
        "web/figures/chart.py",
        "web/pages/charts/series_figures.py",
        "web/pages/dashboards/widget_drawing.py",
    } <= drawn_by


def test_slow_intervals_between_logged_points_are_marked(project, figure):
    run = make_run(project, "plain", "finished")
    seconds = np.full(400, 0.1)
    seconds[40::40] += 2.0
    times = START + (1e6 * np.cumsum(seconds)).astype(np.int64) + 7
    steps = 10 * np.arange(400)
    loss = np.linspace(2.0, 1.0, 400)
    write_series(run, "train/loss", loss, steps=steps, times=times)
    diagnose_run(run.id)
    asked = "evidence?stage=train&rule=steps-are-slow-now-and-then&scope="

    *_, slow = figure(run, asked)["data"]
    (judged,) = Finding.objects.filter(run=run, rule="steps-are-slow-now-and-then")
    later = figure(run, f"{asked}&low={times[300] / 1000}")["data"]

    assert judged.body["judgement"]["finding"]["summary"].startswith("9 of")
    assert slow["mode"] == "markers"
    assert numbers(slow["y"]) == pytest.approx([2.1] * 9)
    assert numbers(slow["x"]) == pytest.approx(times[40::40] / 1000)
    assert len(numbers(later[-1]["x"])) == 2


def test_evidence_without_a_series_has_a_reason(project, figure):
    run = make_run(project, "gone", "finished")
    write_series(run, "train/loss", [np.nan] * 40)
    diagnose_run(run.id)

    found = figure(run, "evidence?stage=train&rule=loss-is-not-a-number&scope=")

    assert found["notes"] == ["No chart: this evidence has no time series."]
