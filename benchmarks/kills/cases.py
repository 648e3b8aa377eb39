"""Cases that kill: web servers, the worker, the database, everything at once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict

import psutil

from benchmarks.kills.case import Database, Result, Size
from benchmarks.kills.installation import Home, Installation, Tree, eventually
from benchmarks.kills.services import DurablePostgreSQL, RestartableValkey
from benchmarks.kills.traffic import Judged, Traffic

# Acknowledged batches between two faults, so that each fault meets traffic.
BATCHES = 20
LONGEST_DELAY_SECONDS = 0.3
# Some kills come a little after the compaction they are meant for.
PART_OF_A_COMPACTION = 1.2
POINTS_TO_COMPACT = 20
# Rounds that wait for a compaction are long: fewer batches come in each second.
SLOW_PAUSE_SECONDS = 0.03
# The expired lease of a killed worker does not count.
IN_COMPACTION = "kind = 'compact' AND leased_until > CURRENT_TIMESTAMP"
STOPPED_SECONDS = 8.0
CALM_SECONDS = 3.0


def web_killed(size: Size, database: str) -> Result:
    """Kill a web server, or the process that works for it, and start it again."""
    with ExitStack() as stack:
        url = stack.enter_context(Database(database)).url
        installation = Installation(size.folder, database_url=url)
        return kill_webs(stack.enter_context(installation), size)


def kill_webs(installation: Installation, size: Size) -> Result:
    """The same on a tracker that runs already."""
    chance = random.Random(size.seed)
    with Traffic(installation, clients=size.clients, seed=size.seed) as traffic:
        for _ in range(size.rounds):
            traffic.flow(BATCHES, installation.keep_running)
            time.sleep(chance.uniform(0, LONGEST_DELAY_SECONDS))
            kill_one_of(chance.choice(installation.webs).members(), chance)
            installation.keep_running()
        return result(traffic.judge(), **health(installation))


def worker_killed(size: Size, database: str) -> Result:
    """Kill the worker while it compacts, and start it again."""
    with ExitStack() as stack:
        url = stack.enter_context(Database(database)).url
        installation = Installation(size.folder, database_url=url)
        return kill_worker(stack.enter_context(installation), size)


def kill_worker(installation: Installation, size: Size) -> Result:
    """The same on a tracker that runs already."""
    chance = random.Random(size.seed)
    interrupted = 0
    with slow_traffic(installation, size) as traffic:
        seconds = compaction_seconds(installation)
        for _ in range(size.rounds):
            traffic.flow(BATCHES, installation.keep_running)
            wait_for_compaction(installation, chance, seconds)
            installation.worker.kill()
            interrupted += is_compacting(installation)
            installation.expire_leases()
            installation.keep_running()
        judged = traffic.judge()
        return result(judged, interrupted=interrupted, **health(installation))


def tree_killed(size: Size, _database: str) -> Result:
    """Kill the supervisor and all its children at once; start it again on its data."""
    chance = random.Random(size.seed)
    interrupted = damaged = 0
    tree = Tree(size.folder)
    with ExitStack() as stack:
        stack.callback(tree.kill)
        tree.start()
        traffic = stack.enter_context(slow_traffic(tree, size))
        seconds = compaction_seconds(tree)
        for number in range(size.rounds):
            traffic.flow(BATCHES, nothing)
            # Every other time during a compaction, else whenever it happens to be.
            if number % 2:
                time.sleep(chance.uniform(0, 5 * LONGEST_DELAY_SECONDS))
            else:
                wait_for_compaction(tree, chance, seconds)
            tree.kill()
            interrupted += is_compacting(tree)
            damaged += tree.integrity() != "ok"
            tree.expire_leases()
            tree.start()
        judged = traffic.judge()
        return result(
            judged,
            interrupted=interrupted,
            damaged=damaged,
            integrity=tree.integrity(),
        )


def database_stopped(size: Size, database: str) -> Result:
    """Stop PostgreSQL at once, without a checkpoint, and start it again."""
    with ExitStack() as stack:
        server = stack.enter_context(Database(database)).server
        assert server is not None
        installation = Installation(size.folder, database_url=server.url)
        return stop_database(stack.enter_context(installation), server, size)


def stop_database(
    installation: Installation, server: DurablePostgreSQL, size: Size
) -> Result:
    """The same on a tracker that runs already."""
    chance = random.Random(size.seed)
    with Traffic(installation, clients=size.clients, seed=size.seed) as traffic:
        for _ in range(size.rounds):
            traffic.flow(BATCHES, installation.keep_running)
            time.sleep(chance.uniform(0, LONGEST_DELAY_SECONDS))
            server.stop_immediately()
            time.sleep(chance.uniform(0, LONGEST_DELAY_SECONDS))
            server.start_again()
        installation.expire_leases()
        return result(traffic.judge())


def everything_fails(size: Size, database: str) -> Result:
    """Faults of all kinds, one after the other, while readers read; rounds are seconds."""
    with ExitStack() as stack:
        server = stack.enter_context(Database(database)).server
        valkey = stack.enter_context(RestartableValkey()) if server else None
        installation = Installation(
            size.folder,
            database_url=server.url if server else "",
            redis_url=valkey.url if valkey else "",
        )
        stack.enter_context(installation)
        return make_fail(installation, size, server=server, valkey=valkey)


def make_fail(
    installation: Installation,
    size: Size,
    *,
    server: DurablePostgreSQL | None = None,
    valkey: RestartableValkey | None = None,
) -> Result:
    """The same on a tracker that runs already."""
    chance = random.Random(size.seed)
    traffic = Traffic(
        installation, clients=size.clients, seed=size.seed, reads_meanwhile=True
    )
    faults = Faults(
        installation,
        traffic,
        chance,
        server,
        valkey,
        # A short test pauses no longer than it is.
        pause_seconds=min(STOPPED_SECONDS, size.rounds),
    ).by_name()
    counts = dict.fromkeys(faults, 0)
    with traffic:
        until = time.monotonic() + size.rounds
        while time.monotonic() < until:
            traffic.flow_for(chance.uniform(0, CALM_SECONDS), installation.keep_running)
            name = chance.choice(list(faults))
            faults[name]()
            counts[name] += 1
            installation.keep_running()
        installation.wait_until_it_answers()
        installation.expire_leases()
        return result(traffic.judge(), **counts, **health(installation))


class Faults:
    """The possible faults of an installation, one method each."""

    def __init__(
        self,
        installation: Installation,
        traffic: Traffic,
        chance: random.Random,
        server: DurablePostgreSQL | None,
        valkey: RestartableValkey | None,
        *,
        pause_seconds: float = STOPPED_SECONDS,
    ) -> None:
        self._installation = installation
        self._traffic = traffic
        self._chance = chance
        self._server = server
        self._valkey = valkey
        self._pause_seconds = pause_seconds

    def by_name(self) -> dict[str, Callable[[], None]]:
        faults: dict[str, Callable[[], None]] = {
            "web_kills": self.kill_web,
            "worker_kills": self._installation.worker.kill,
            "web_pauses": self.pause_web,
            "worker_pauses": self.pause_worker,
        }
        if self._server is not None:
            faults["database_restarts"] = self.restart_database
        if self._valkey is not None:
            faults["message_kills"] = self.kill_messages
        return faults

    def kill_web(self) -> None:
        web = self._chance.choice(self._installation.webs)
        kill_one_of(web.members(), self._chance)

    def pause_web(self) -> None:
        self._pause(self._chance.choice(self._installation.webs).members())

    def pause_worker(self) -> None:
        self._pause(self._installation.worker.members())

    def restart_database(self) -> None:
        assert self._server is not None
        self._server.stop_immediately()
        self._server.start_again()

    def kill_messages(self) -> None:
        assert self._valkey is not None
        self._valkey.kill()
        self._valkey.start_again()

    def _pause(self, processes: list[psutil.Process]) -> None:
        """Stop the processes for some seconds: alive, and without an answer."""
        process_ids = [process.pid for process in processes]
        try:
            send_signal(process_ids, signal.SIGSTOP)
            self._traffic.flow_for(self._pause_seconds, nothing)
        finally:
            send_signal(process_ids, signal.SIGCONT)


def slow_traffic(home: Home, size: Size) -> Traffic:
    return Traffic(
        home,
        clients=size.clients,
        seed=size.seed,
        points_in_frame=POINTS_TO_COMPACT,
        pause_seconds=SLOW_PAUSE_SECONDS,
    )


def wait_for_compaction(home: Home, chance: random.Random, seconds: float) -> None:
    """Wait until one has begun, and a part of the time that it takes."""
    eventually(lambda: is_compacting(home), "a compaction begins")
    time.sleep(chance.uniform(0, PART_OF_A_COMPACTION * seconds))


def compaction_seconds(home: Home) -> float:
    """Watch one compaction and return how long it took."""
    eventually(lambda: is_compacting(home), "a compaction begins")
    began = time.monotonic()
    eventually(lambda: not is_compacting(home), "a compaction ends")
    return time.monotonic() - began


def is_compacting(home: Home) -> bool:
    """Return whether a worker is compacting, or was when it was killed."""
    return home.count("tracker_work", IN_COMPACTION) > 0


def nothing() -> None:
    """Do nothing: the supervisor restarts its own children."""


def kill_one_of(processes: list[psutil.Process], chance: random.Random) -> None:
    if processes:
        with suppress(psutil.NoSuchProcess):
            chance.choice(processes).kill()


def send_signal(process_ids: list[int], number: int) -> None:
    for process_id in process_ids:
        with suppress(ProcessLookupError):
            os.kill(process_id, number)


def health(installation: Installation) -> dict[str, int | str]:
    if not installation.is_sqlite:
        return {}
    return {
        "integrity": installation.integrity(),
        "locked": installation.logged("database is locked"),
    }


def result(judged: Judged, **others: int | str) -> Result:
    """Return the figures, and the allowed value of each guarantee."""
    verdict = asdict(judged.verdict)
    threshold: dict[str, int | str] = dict.fromkeys(verdict, 0)
    # An unavailable service leads to 503, or to no answer.
    threshold |= {"summed_wrongly": 0, "answers_500": 0}
    allowed: dict[str, int | str] = {"integrity": "ok", "damaged": 0, "locked": 0}
    threshold |= {name: allowed[name] for name in allowed if name in others}
    return Result({**judged.figures, **verdict, **others}, threshold)
