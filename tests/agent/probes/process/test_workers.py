from __future__ import annotations

from seamark.probes.process.process import ProcessProbe
from seamark.probes.process.processes import ProcessState, Traffic, parse_proportional
from seamark.probes.process.workers import MAX_WORKERS, Workers
from seamark.probes.reading import pattern_of

# No process has this PID.
NOBODY = 2**31 - 1


class Worker:
    def __init__(self, state="R", cpu=0.0, waited=0.0, resident=1_000):
        self.pid = NOBODY
        self.counted = Traffic(0.0, 0.0, None)
        self.be(state, cpu, waited, resident)

    def be(self, state, cpu=0.0, waited=0.0, resident=1_000):
        self.state = ProcessState(state, cpu, 0.0, resident, 1, 0, 0.0, waited)


def look(numbered, workers, times, *, known=True):
    """Sample at each of the times; return the last value of each path."""
    found = {}
    for now in times:
        found |= numbered.sample(workers, float(now), is_disk_wait_known=known)
    return found


def test_each_worker_says_what_it_did_since_it_was_last_asked():
    numbered, worker = Workers(), Worker("S")
    first = look(numbered, [worker], [0])
    for now, state in enumerate("RRRRRDDSSS", 1):
        worker.be(state, cpu=5.0, waited=2.0, resident=3_000)
        later = look(numbered, [worker], [now])

    assert first["job/worker/0/memory_bytes"] == 1_000
    assert "job/worker/0/cpu_cores" not in first
    assert later == {
        "job/worker/0/cpu_cores": 0.5,
        "job/worker/0/major_faults_per_second": 0,
        "job/worker/0/read_bytes_per_second": 0,
        "job/worker/0/disk_wait_share": 0.2,
        "job/worker/0/memory_bytes": 3_000,
        "job/worker/0/running_share": 0.5,
        "job/worker/0/sleeping_share": 0.3,
        "job/worker/0/blocked_share": 0.2,
    }


def test_between_times_nothing_is_said():
    numbered, worker = Workers(), Worker()
    look(numbered, [worker], [0])

    assert look(numbered, [worker], range(1, 9)) == {}


def test_waits_that_the_kernel_does_not_count_are_absent():
    found = look(Workers(), [Worker()], [0, 10], known=False)

    assert "job/worker/0/disk_wait_share" not in found
    assert "job/worker/0/cpu_cores" in found


def test_workers_have_few_numbers_and_the_next_takes_that_of_one_that_ended():
    numbered = Workers()
    many = [Worker(resident=n) for n in range(MAX_WORKERS + 5)]
    first = look(numbered, many, [0])
    replaced = [*many[:3], Worker(resident=77), *many[4:MAX_WORKERS]]

    later = look(numbered, replaced, [10])

    memory = [path for path in first if path.endswith("memory_bytes")]
    assert len(memory) == MAX_WORKERS
    assert later["job/worker/3/memory_bytes"] == 77
    assert later["job/worker/2/memory_bytes"] == 2


def test_shared_memory_is_divided_by_who_shares_it():
    text = (
        b"00-ff ---p 00:00 0 [rollup]\nRss:  900 kB\nPss:   300 kB\nPss_Dirty: 1 kB\n"
    )

    assert parse_proportional(text) == 300 * 1024
    assert parse_proportional(b"Rss: 1 kB\n") is None
    assert parse_proportional(b"x\nPss:") is None


def test_a_workers_number_is_no_part_of_a_pattern():
    described = {reading.path for reading in ProcessProbe.readings}

    assert pattern_of("job/worker/12/cpu_cores") in described
