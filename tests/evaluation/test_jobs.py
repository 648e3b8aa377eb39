import hashlib
from collections import Counter

from evaluation.jobs import Expects, all_jobs, jobs_of
from evaluation.neighbors import NEIGHBORS
from evaluation.recordings import PARTS, all_recordings, recordings_of
from tracker.diagnosis.rules import RULES


def digests(paths):
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_the_parts_share_no_recording_job_or_script():
    tune, test = (
        set().union(*(digests(recordings_of(p)) for p in PARTS if p.startswith(kind)))
        for kind in ("tune", "test")
    )
    assert not (tune | digests(all_recordings())) & test

    names = Counter((job.part, job.name) for job in all_jobs())
    assert [name for name, count in names.items() if count > 1] == []
    scripts = [d for part in PARTS for d in digests({j.path for j in jobs_of(part)})]
    assert len(scripts) == len(set(scripts))


def test_labels_name_rules_that_exist():
    known = {rule.name for rule in RULES}
    named = {
        (job.name, rule)
        for job in all_jobs()
        for rule in job.label.causes | job.label.beside
    }
    assert {pair for pair in named if pair[1] not in known} == set()


def test_each_job_has_a_script_a_neighbor_and_a_label_of_its_kind():
    for job in all_jobs():
        assert job.path.is_file(), job.name
        assert job.neighbor in NEIGHBORS or job.modes == ("alone",), job.name
        assert (job.label.expects is Expects.FAULT) == bool(job.label.causes)
        assert not job.label.causes & job.label.beside, job.name


def test_each_recording_is_of_a_job_and_a_mode():
    known = {job.recording(mode) for job in all_jobs() for mode in job.modes}
    assert {p for part in PARTS for p in recordings_of(part)} <= known


def test_there_are_forty_healthy_and_forty_faulty_jobs_of_many_kinds():
    jobs = all_jobs()
    expected = Counter(job.label.expects for job in jobs)
    assert expected[Expects.HEALTHY] >= 40
    assert expected[Expects.FAULT] >= 40
    assert len({job.kind for job in jobs}) >= 10
