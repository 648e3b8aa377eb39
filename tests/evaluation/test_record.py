from argparse import Namespace

from evaluation.jobs import jobs_of
from evaluation.record import missing


def options(**given):
    return Namespace(**{"names": [], "part": ["tune"], "mode": ["alone"], **given})


def test_what_has_a_recording_is_not_missing():
    recorded = [job for job in jobs_of("tune") if job.recording("alone").exists()]
    listed = [job for job, _ in missing(options())]
    assert len(listed) + len(recorded) == len(jobs_of("tune"))


def test_a_job_is_recorded_again_by_name():
    job = jobs_of("tune")[0]
    assert missing(options(names=[job.name])) == [(job, "alone")]
