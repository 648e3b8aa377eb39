from evaluation.demo_check import LastRun

OTHERS = "others-use-the-same-hardware"


def test_a_problem_of_the_last_run_is_an_accusation():
    assert LastRun(["data-wait-dominates"], "").accusations == ["data-wait-dominates"]
    assert LastRun([], "steps-become-slower").accusations == ["steps-become-slower"]


def test_other_programs_on_the_machine_are_no_accusation():
    assert LastRun([OTHERS], OTHERS).accusations == []
