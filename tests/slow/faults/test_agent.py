"""The agent's guarantees: each case of `benchmarks.agent_faults` at its smallest."""

from __future__ import annotations

import shutil
import sys

import pytest

from benchmarks.agent_faults import (
    absent,
    answers,
    backlog,
    children,
    clocks,
    cold,
    disk,
    elsewhere,
    hostile,
    kills,
    memory,
    network,
    notebooks,
    odd_values,
    overhead,
    preemption,
    processes,
    sensors,
    spools,
    threads,
    trust,
)
from benchmarks.agent_faults.case import Size

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]


@pytest.fixture
def agent_size(tmp_path):
    return lambda amount: Size(tmp_path, amount)


def shown(found):
    """Check that all of it holds, but for how long it took: machines are busy."""
    lines = found if isinstance(found, list) else [found]
    for one in lines:
        broken = [b.words for b in one.bounds if b.holds is False and not b.is_pace]
        assert not broken, (one.done, one.figures)
    if all(bound.holds is None for one in lines for bound in one.bounds):
        pytest.skip(lines[0].figures[0])


def test_a_script_that_is_killed_loses_no_point_and_of_texts_a_second_at_most(
    agent_size,
):
    shown(kills.killed(agent_size(10), longest=5.0))


def test_what_is_logged_before_there_is_a_server_is_delivered_once(agent_size):
    shown(absent.is_absent(agent_size(2)))


@pytest.mark.parametrize("cause", disk.CAUSES)
def test_whatever_becomes_of_the_disk_each_point_is_stored_or_counted(
    agent_size, cause
):
    shown(disk.spoilt(cause, agent_size(30_000)))


def test_a_user_without_a_home_and_without_a_name_loses_nothing(agent_size):
    shown(disk.without_home(agent_size(1)))


def test_whatever_the_server_does_what_is_logged_meanwhile_is_delivered_once(
    agent_size,
):
    shown(network.callers_cost(agent_size(1)))


def test_calls_of_a_form_or_of_series_that_were_never_there_before_log_as_others(
    agent_size,
):
    shown(cold.first_calls(agent_size(1)))


def test_a_flood_takes_little_memory_and_loses_nothing(agent_size):
    shown(cold.flood(agent_size(1)))


def test_answers_that_are_cut_off_leave_no_gap_and_double_nothing(
    installation, agent_size
):
    shown(network.cut_answers(installation, agent_size(30)))


def test_a_server_that_hangs_delays_the_end_and_loses_nothing(agent_size):
    shown(network.ends(agent_size(1)))


def test_what_is_logged_while_the_server_hangs_is_delivered_when_it_comes_back(
    agent_size,
):
    shown(backlog.comes_back(agent_size(1)))


def test_forked_children_end_as_soon_as_without_the_agent_and_lose_nothing(agent_size):
    shown(children.forked(agent_size(1)))


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        *[(kind, "fork") for kind in children.KINDS],
        *[(kind, "spawn") for kind in ("Process", "ProcessPoolExecutor", "joblib")],
        *[(kind, "forkserver") for kind in ("Pool", "loader")],
    ],
)
def test_children_of_all_kinds_end_and_lose_nothing(agent_size, kind, method):
    shown(children.of_kind(kind, agent_size(1), [method]))


def test_ranks_that_are_killed_take_nothing_from_others(agent_size):
    shown(processes.ranks(agent_size(1)))


def test_a_script_that_is_told_to_end_handles_it_and_says_so(agent_size):
    shown(preemption.preempted(agent_size(1)))


def test_a_job_that_is_started_again_has_one_run_and_no_step_twice(
    installation, agent_size
):
    shown(preemption.start_again(installation, agent_size(1)))


def test_however_a_process_ends_it_is_known_and_nothing_is_lost(agent_size):
    shown(processes.endings(agent_size(1)))


def test_a_script_that_is_killed_for_its_memory_loses_nothing(agent_size):
    shown(memory.killed_for_memory(agent_size(1)))


def test_a_live_spool_that_is_delivered_from_elsewhere_is_there_once(
    installation, agent_size
):
    shown(elsewhere.delivered_twice(installation, agent_size(1)))


def test_a_live_spool_that_is_delivered_from_beside_it_is_there_once(
    installation, agent_size
):
    shown(elsewhere.delivered_beside(installation, agent_size(1)))


def test_a_live_spool_is_not_taken_from_where_its_lock_is_not_seen(
    installation, agent_size
):
    shown(elsewhere.shared(installation, agent_size(1)))


def test_who_cannot_be_trusted_gets_nothing_and_nothing_is_lost(agent_size):
    shown(trust.untrusted(agent_size(1)))


def test_processes_and_deliveries_at_once_lose_and_double_nothing(agent_size):
    shown(processes.at_once(agent_size(1)))


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no compiler")
@pytest.mark.parametrize("words", [*clocks.JUMPS, *clocks.JUMPS_OF_BOTH])
def test_a_clock_that_jumps_costs_and_disorders_nothing(agent_size, words):
    shown(clocks.jump(words, agent_size(1)))


def test_of_damaged_spools_all_that_is_intact_is_read(agent_size):
    shown(spools.damaged(agent_size(1)))


def test_each_answer_of_a_server_has_the_effect_that_the_protocol_says(agent_size):
    shown(answers.answers(agent_size(1)))


def test_threads_that_die_are_started_again_and_lose_nothing(agent_size):
    shown(threads.dying(agent_size(1)))


def test_whoever_interrupts_a_call_may_log(agent_size):
    shown(threads.reentrant(agent_size(2_000)))


def test_loops_with_and_without_a_run_take_turns(agent_size):
    pace = overhead.Pace(turn_seconds=0.2, start_seconds=0.5)

    found = overhead.compared("python", sys.executable, agent_size(1), pace)

    # Two rounds show no cost.
    assert len(found) == 1 + len(overhead.WAYS)
    assert all("agent's threads" in one.figures[-1] for one in found[1:])


def test_a_driver_that_fails_silences_only_what_it_measures(agent_size):
    shown(sensors.sensors(agent_size(5)))


def test_odd_values_raise_nothing_unless_a_run_is_strict(agent_size):
    shown(odd_values.odd_values(agent_size(1)))


def test_a_run_that_is_handed_over_is_small_and_has_no_token(agent_size):
    shown(odd_values.handles(agent_size(1)))


def test_a_kernel_keeps_nothing_of_its_runs(agent_size):
    shown(notebooks.notebooks(agent_size(5)))


def test_who_means_harm_gets_nothing(agent_size):
    shown(hostile.hostile(agent_size(1)))


def test_a_run_whose_token_is_revoked_goes_on_with_a_new_one(agent_size):
    shown(trust.revoked(agent_size(1)))
