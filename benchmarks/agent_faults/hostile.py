"""CF-31: a server and a folder of spools that mean harm."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
import uuid
from pathlib import Path

from benchmarks.agent_faults.case import Found, Size, at_most, none_of
from benchmarks.agent_faults.scripts import Place, answer_of, lost_and_doubled
from benchmarks.agent_faults.spools import ORIGIN
from seamark.messages import payload, points
from seamark.queue.frames import Frame
from seamark.queue.spool import SEGMENT_SUFFIX, create_spool
from tests.agent.reading.test_downloads import HOSTILE, files
from tests.agent.tracker_double import Scripted, TrackerDouble

GIBIBYTE = 2**30
SECRET = "what is nobody's business"
# The limit of an answer's size, independent of declared and unpacked sizes.
MAX_MEBIBYTES = 8
# Names of the agent's own files, and where they lead.
LINKS = {"acknowledged": "secret", "renewal.json": "/dev/zero"}
POINTS = 100
# The number behind those of the points and the one that opens the run.
PICKLED = POINTS + 2
SYNC = """
import json, resource
from seamark.commands import main
code = main(["sync"])
print(json.dumps({"code": code, "kibibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


class Planted:
    """An object that runs a command when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._marker),)


def hostile(size: Size) -> list[Found]:
    """Deliver spools with traps, to servers that answer with traps, and download."""
    return [_folders(size), _answers(size), _names(size)]


def _folders(size: Size) -> Found:
    lost = doubled = changed = told = codes = 0
    for number in range(size.amount):
        tracker = TrackerDouble()
        place = Place(size.folder / f"spools{number}", tracker.url)
        place.environment["SEAMARK_SPOOL"] = str(place.folder / "spool")
        outside = place.folder / "outside"
        outside.mkdir()
        (outside / "secret").write_text(SECRET)
        _lay_traps(_spool(place), outside)
        before = _listing(outside)
        done = place.perform(SYNC)
        codes += done.returncode != 0
        changed += before != _listing(outside)
        told += sum(SECRET.encode() in body for _, _, body in tracker.requests)
        # A true tracker refuses it; the agent reads no frame that it delivers.
        for frames in tracker.frames.values():
            frames.pop(PICKLED, None)
        found = lost_and_doubled(tracker, {"a": POINTS})
        lost, doubled = lost + found[0], doubled + found[1]
        tracker.stop()
    return Found(
        f"links, pipes, devices and pickled frames among spools, {size.amount} times",
        [],
        [
            none_of("written or run outside", changed),
            none_of("sent from outside", told),
            none_of("hangs and other exit codes", codes),
            none_of("lost", lost),
            none_of("doubled", doubled),
        ],
    )


def _spool(place: Place) -> Path:
    opened = create_spool(Path(place.environment["SEAMARK_SPOOL"]), ORIGIN, url=None)
    for step in range(POINTS):
        column = [float(step)]
        opened.write(payload([points(["a"], column, [0], [column])]))
    opened.close()
    return opened.folder


def _lay_traps(spool: Path, outside: Path) -> None:
    """Add links and endless files to a spool and its surroundings."""

    def segment(number: int) -> Path:
        return spool / f"{number:020}{SEGMENT_SUFFIX}"

    segment(1_000).symlink_to(outside / "secret")
    segment(2_000).symlink_to("/dev/zero")
    os.mkfifo(segment(3_000))
    pickled = pickle.dumps(Planted(outside / "unpickled"))
    # The one that follows the true ones, so that it is delivered like them.
    segment(PICKLED).write_bytes(Frame(PICKLED, pickled).to_bytes())
    for name, target in LINKS.items():
        (spool / name).unlink(missing_ok=True)
        (spool / name).symlink_to(outside / target)
    (spool / "ring").unlink(missing_ok=True)
    os.mkfifo(spool / "ring")
    (spool.parent / "set-aside").symlink_to(outside)
    (spool.parent / str(uuid.uuid4())).symlink_to(outside)
    (spool.parent / "..escaped").mkdir()


def _listing(folder: Path) -> list[tuple[str, str]]:
    return sorted(
        (
            str(path.relative_to(folder)),
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in folder.rglob("*")
    )


def _answers(size: Size) -> Found:
    bomb = gzip.compress(bytes(GIBIBYTE), 1)
    traps = [
        Scripted(200, bomb, {"Content-Encoding": "gzip"}),
        Scripted(200, b" " * (64 * 2**20)),
        Scripted(200, b"[" * 1_000_000),
        Scripted(200, pickle.dumps(Planted(size.folder / "unpickled"))),
    ]
    lost = doubled = 0
    peaks = []
    for script in ([], traps):
        tracker = TrackerDouble()
        place = Place(size.folder / f"answers{len(script)}", tracker.url)
        place.environment["SEAMARK_SPOOL"] = str(place.folder / "spool")
        _spool(place)
        tracker.script.extend(script)
        peaks += [
            (len(script), answer_of(place.perform(SYNC))["kibibytes"])
            for _ in range(1 + len(script))
        ]
        found = lost_and_doubled(tracker, {"a": POINTS})
        lost, doubled = lost + found[0], doubled + found[1]
        tracker.stop()
    usual = max(peak for count, peak in peaks if not count)
    grown = (max(peak for _, peak in peaks) - usual) / 1024
    return Found(
        "answers of 1 GiB as gzip, of 64 MiB, nested and pickled; then true ones",
        [f"{grown:.0f} MiB of memory more than with true answers"],
        [
            at_most("memory", grown, MAX_MEBIBYTES, "MiB more"),
            none_of("unpickled", (size.folder / "unpickled").exists()),
            none_of("lost", lost),
            none_of("doubled", doubled),
        ],
    )


def _names(size: Size) -> Found:
    escaped = missing = 0
    for number, name in enumerate(HOSTILE):
        around = size.folder / f"names{number}"
        folder = around / "deep/er/there"
        contents = {f"model/{name}": b"x", "model/good": b"y"}
        missing += len(contents) - len({*files(contents).download(folder)})
        escaped += sum(
            not path.is_dir() and not path.resolve().is_relative_to(folder.resolve())
            for path in around.rglob("*")
        )
    return Found(
        f"{len(HOSTILE)} names of files that lead elsewhere, downloaded",
        [],
        [
            none_of("written outside", escaped + Path("/tmp/escaped").exists()),
            none_of("not downloaded", missing),
        ],
    )
