"""The hardware tab of a run."""

import pytest

from tests.builders import make_run, write_values
from tests.web.sample_run import make_sample_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client_of, member):
    client = client_of(member)
    return lambda run, query="": client.get(f"/runs/{run.id}/hardware{query}")


def test_shows_the_readings_and_the_machine_of_each_stage(project, page):
    text = page(make_sample_run(project)).content.decode()

    assert "figures/hardware" in text
    assert text.count("node-1") == 3
    assert "8 GiB" in text


def test_one_stage_can_be_looked_at_alone(project, page):
    text = page(make_sample_run(project), "?stage=infer").content.decode()

    assert "figures/hardware?stage=infer" in text
    assert text.count("node-1") == 1


def test_a_stage_that_is_not_there_is_not_found(project, page):
    assert page(make_run(project), "?stage=nowhere").status_code == 404


def test_a_run_without_readings_says_when_they_come(project, page):
    assert "No hardware metrics yet" in page(make_run(project)).content.decode()


def test_a_run_that_ended_without_readings_promises_none(project, page):
    text = page(make_run(project, state="finished")).content.decode()

    assert "This run ended without sending any samples." in text
    assert "No hardware metrics yet" not in text


def test_groups_with_readings_can_be_chosen(project, page):
    run = make_sample_run(project)

    text = page(run, "?group=cpu&stage=infer").content.decode()

    assert "figures/hardware?stage=infer&amp;group=cpu" in text
    assert "group=gpus" not in text
    assert "group=cpu" in text


def test_a_group_that_is_not_there_is_not_found(project, page):
    assert page(make_run(project), "?group=nowhere").status_code == 404


def test_a_probe_that_does_not_answer_is_told(project, page):
    run = make_sample_run(project)
    path = "monitoring/train/facts/probes/nvml"
    write_values(run, {path: "does not answer"})

    text = page(run).content.decode()

    assert "Not measured: <code>nvml</code>, which does not answer." in text


def test_readings_are_told_as_numbers_with_their_scope_and_quality(project, page):
    run = make_sample_run(project)
    line = "job/cpu_cores\tcores\tprocess tree\t0.8\t/proc"
    write_values(run, {"monitoring/train/facts/readings": line})

    table = page(run, "?stage=train").content.decode().partition("readings-title")[2]

    assert "CPU cores in use" in table
    assert "process tree" in table
    assert "80 %, sampled" in table


def test_gpus_can_be_looked_at_one_by_one(project, page):
    run = make_sample_run(project, has_gpu=True)

    text = page(run, "?group=gpus&each=power_watts").content.decode()

    assert '<option value="power_watts" selected>Each GPU: GPU power</option>' in text
    assert "group=gpus&amp;each=power_watts" in text
    assert "temperature_celsius" not in text
    assert "Each GPU" not in page(run, "?group=cpu").content.decode()
    assert page(run, "?each=no_such").status_code == 404


def test_a_zoom_is_in_the_address(project, page):
    run = make_sample_run(project)

    text = page(run, "?low=1000&high=2000").content.decode()

    assert 'data-chart-query="low=1000&amp;high=2000"' in text
    assert 'data-chart-query=""' in page(run, "?low=1000").content.decode()
    assert page(run, "?low=x&high=1").status_code == 400


def test_a_machine_without_a_gpu_says_why(project, page):
    run = make_sample_run(project)
    reason = "not here: no NVIDIA driver"
    write_values(run, {"monitoring/train/facts/probes/nvml": reason})

    text = page(run).content.decode()

    assert "1 probe not available on this machine" in text
    assert reason in text


def test_fifty_stages_cost_no_more_than_three(
    project, page, django_assert_max_num_queries
):
    for number in range(50):
        run = make_run(project, state="finished", stage=f"stage-{number}")

    with django_assert_max_num_queries(17):
        assert page(run).status_code == 200
