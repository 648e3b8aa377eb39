from __future__ import annotations

import argparse
import copy
import dataclasses
import decimal
import io
import itertools
import math
import pickle
import struct
import threading
import time
from collections import UserDict
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from enum import Enum

import msgspec
import numpy as np
import pytest

import agent
from seamark.queue.layouts import Layouts
from seamark.queue.spool_reader import SpoolReader
from tests.agent.conftest import wait_until


def points(tracker, *paths):
    return {
        path: sorted(zip(tracker.steps(path), tracker.values(path), strict=True))
        for path in paths
    }


class Breaks:
    """An iterable that raises."""

    def __iter__(self):
        raise ZeroDivisionError


def init(name="r", **arguments):
    return agent.init(name, **{"monitor": False, **arguments})


def test_points_arrive_in_order(tracker):
    with init() as run:
        for step in range(100):
            run["train/loss"].append(1 / (step + 1), step=step)

    assert tracker.values("train/loss") == [1 / (step + 1) for step in range(100)]
    assert tracker.steps("train/loss") == list(range(100))


def test_a_missing_step_is_one_more_than_the_last(tracker):
    with init() as run:
        run["a"].append(1.0)
        run["a"].append(1.0, step=10)
        run["a"].append(1.0)
        run["a"].extend([1.0, 1.0])

    assert tracker.steps("a") == [0, 10, 11, 12, 13]


def test_steps_may_be_parts_of_epochs(tracker):
    with agent.init("r", monitor=False) as run:
        for batch in range(3):
            run["a"].append(1.0, step=1 + batch / 8)
            run.log({"b": 2.0, "c": 3.0}, step=batch / 8)
        run["b"].append(2.0)

    assert tracker.steps("a") == [1.0, 1.125, 1.25]
    assert tracker.steps("b") == [0.0, 0.125, 0.25, 1.25]


def test_the_first_frame_opens_the_run_and_the_last_closes_it(tracker):
    with init("baseline", project="digits", stage="train", rank=3):
        pass

    messages = tracker.messages()
    names = {k: messages[0][k] for k in ("t", "project", "run", "stage", "rank")}
    assert names == {
        "t": "open",
        "project": "digits",
        "run": "baseline",
        "stage": "train",
        "rank": 3,
    }
    assert (messages[-1]["t"], messages[-1]["state"]) == ("close", "finished")


@pytest.mark.parametrize(
    "number",
    [
        1,
        True,
        decimal.Decimal("1"),
        np.float32(1),
        np.int64(1),
        np.array(1.0),
        np.array([[1.0]]),
        np.float16(1),
    ],
    ids=repr,
)
def test_every_kind_of_number_is_a_point(tracker, number):
    with init(strict=True) as run:
        run["a"].append(number)

    assert tracker.values("a") == [1.0]


def test_nan_and_infinities_are_values(tracker):
    with init() as run:
        run["a"].extend([math.nan, math.inf, -math.inf])

    first, *others = tracker.values("a")
    assert math.isnan(first)
    assert others == [math.inf, -math.inf]


class Hostile:
    def __float__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value",
    [b"1", None, 1j, object(), Hostile(), np.zeros(3), [1.0], 10**400],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_one_number_is_refused_once(tracker, caplog, value):
    with init() as run:
        for _ in range(3):
            run["a"].append(value)
        run["b"].append(1.0)

    assert tracker.values("a") == []
    assert tracker.values("b") == [1.0]
    assert [r.getMessage().startswith("not logged") for r in caplog.records] == [True]


def test_a_strict_run_raises_what_cannot_be_stored(tracker):
    with init(strict=True) as run, pytest.raises(agent.UnsupportedValue):
        run["a"].append(b"bytes")


def test_what_is_refused_is_named(tracker, caplog):
    with init() as run:
        run.log({"loss": 1.0, "val": {"acc": [1, 2], "f1": None}})
        run["params"] = {"seed": 1, "model": {"net": object()}}
        run["late"].append(1.0, step="five")

    assert [record.getMessage() for record in caplog.records] == [
        "not logged: A list for 'val/acc' is not one number (TypeError).",
        "not logged: None for 'val/f1' is not one number (TypeError).",
        "not logged: An object for 'params/model/net' has no value that can be stored.",
        "not logged: A str for 'late' is not a step: a step is one number.",
    ]


def test_what_a_strict_run_raises_names_it(tracker):
    named = pytest.raises(agent.UnsupportedValue, match="for 'val/acc' is not one")
    with init(strict=True) as run, named:
        run.log({"loss": 1.0, "val": {"acc": [1, 2]}})


def test_who_has_read_very_many_warnings_is_told_that_there_are_no_more(
    tracker, caplog
):
    with init() as run:
        for number in range(60):
            run[f"a{number}"].append(None)

    assert len(caplog.records) == 51
    assert "further ones are not reported" in caplog.records[-1].getMessage()


def test_nested_dictionaries_become_paths(tracker):
    with init(params={"lr": 0.1}) as run:
        run["params"] = {"model": {"depth": 3, "name": "mlp"}, "none": None, "b": []}
        run["when"] = datetime(2026, 1, 1, tzinfo=timezone.utc)
        run["names"] = {"x", "y"}

    assert tracker.attributes() == {
        "params/lr": 0.1,
        "params/model/depth": 3,
        "params/model/name": "mlp",
        "params/none": None,
        "params/b": "[]",
        "when": datetime(2026, 1, 1, tzinfo=timezone.utc),
        "names": ["x", "y"],
    }


def test_a_dictionary_that_contains_itself_is_refused(tracker, caplog):
    cycle = {}
    cycle["again"] = cycle
    with init() as run:
        run["params"] = cycle

    assert tracker.attributes() == {}
    assert "contains itself" in caplog.text


def test_what_is_too_deep_takes_no_other_along(tracker, caplog):
    cycle = {"lr": 0.1}
    cycle["again"] = cycle
    deep = 1
    for _ in range(40):
        deep = {"a": deep}
    with init() as run:
        run["params"] = {"cycle": cycle, "deep": deep, "depth": 3}

    assert tracker.attributes() == {"params/cycle/lr": 0.1, "params/depth": 3}
    assert "contains itself" in caplog.text
    assert "nested deeper" in caplog.text


def test_few_dictionaries_that_stand_for_very_many_values_are_refused(tracker, caplog):
    shared = {"a": 1, "b": 2}
    for _ in range(25):
        shared = {"a": shared, "b": shared}
    with init() as run:
        run["params"] = shared
        run["seed"] = 1

    assert tracker.attributes() == {"seed": 1}
    assert "more than 100000 values" in caplog.text


@pytest.mark.parametrize("value", [10**5_000, "x" * 65_537, object()], ids=type)
def test_values_beyond_the_limits_are_refused(tracker, caplog, value):
    with init() as run:
        run["params"] = {"bad": value, "good": 1}

    assert tracker.attributes() == {"params/good": 1}
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "path",
    ["", "/", "a\0b", "x" * 1025, "名" * 683, "\ud800", 7, None],
    ids=ascii,
)
def test_a_path_that_cannot_be_is_refused(tracker, caplog, path):
    with init() as run:
        run[path].append(1.0)
        run[path].append(1.0)

    assert tracker.of_kind("points") == []
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "path",
    ["<script>", "../../etc", "__proto__", "\u202eabc", "a//b", "x" * 1024, "é" * 1024],
)
def test_odd_paths_are_kept_as_they_are(tracker, path):
    with init(strict=True) as run:
        run[f"/{path}/"].append(1.0)

    assert tracker.values(path) == [1.0]


def test_a_series_cannot_become_a_value(tracker, caplog):
    with init() as run:
        run["a"].append(1.0)
        run["a"] = 2.0
        run["b"] = 2.0
        run["b"].append(1.0)
        run["b"].append(1.0)

    assert tracker.attributes() == {"b": 2.0}
    assert tracker.values("a") == [1.0]
    assert len(caplog.records) == 2


def test_log_appends_to_several_series(tracker):
    with init() as run:
        run.log({"loss": 1, "val": {"acc": 0.5}}, step=7)

    assert tracker.values("val/acc") == [0.5]
    assert tracker.steps("loss") == [7]


def test_tags_are_added_and_removed(tracker):
    with init(tags=["a"]) as run:
        run.tags.add("b", "c")
        run.tags.remove("a")
        run.add_tags("d", "bad\0tag")

    changes = [(m["add"], m["remove"]) for m in tracker.of_kind("tags")]
    assert changes == [(["a"], []), (["b", "c"], []), ([], ["a"]), (["d"], [])]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (None, []),
        ((), []),
        ("baseline", [["baseline"]]),
        (["a", "b"], [["a", "b"]]),
        (iter("ab"), [["a", "b"]]),
        ({"a": 1}, [["a"]]),
    ],
)
def test_tags_are_taken_as_they_are_meant(tracker, tags, expected):
    with init(tags=tags):
        pass

    assert [sorted(m["add"]) for m in tracker.of_kind("tags")] == expected


def test_tags_may_be_added_and_removed_in_lists(tracker):
    with init() as run:
        run.add_tags(["a", "b"], "c")
        run.tags.remove({"a"})

    changes = [(sorted(m["add"]), m["remove"]) for m in tracker.of_kind("tags")]
    assert changes == [(["a", "b", "c"], []), ([], ["a"])]


@pytest.mark.parametrize("tags", [7, object(), b"ab", [7], [["a"]], Breaks()])
def test_what_are_no_tags_is_told_and_nothing_is_raised(tracker, caplog, tags):
    with init(tags=tags) as run:
        run.add_tags(tags)
        run.add_tags("usable")

    assert "is not a tag" in caplog.text
    assert [m["add"] for m in tracker.of_kind("tags")] == [["usable"]]


def test_an_exception_makes_the_run_fail_with_its_traceback(tracker):
    with pytest.raises(ValueError, match="loss"), init():
        raise ValueError("loss is NaN")

    (close,) = tracker.of_kind("close")
    assert close["state"] == "failed"
    assert "ValueError: loss is NaN" in close["failure"]


def test_fail_says_why(tracker):
    init().fail("no data")

    (close,) = tracker.of_kind("close")
    assert (close["state"], close["failure"]) == ("failed", "no data")


def test_logging_after_the_end_is_refused_once(tracker, caplog):
    run = init()
    run.finish()
    run.finish()
    run["a"].append(1.0)
    run["a"].append(1.0)

    assert len(caplog.records) == 1
    assert "is finished" in caplog.text


def test_the_same_name_again_is_the_same_run(tracker):
    run = init("r")

    assert init("r") is run
    assert init("r", stage="other") is not run


def test_a_run_travels_as_a_small_handle_without_the_token(tracker):
    run = init("r")
    data = pickle.dumps(run)

    assert b"smk_test" not in data
    assert len(data) < 2048
    assert pickle.loads(data) is run


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda run: pickle.loads(pickle.dumps(run))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_of_a_run_is_the_run(tracker, copied):
    with agent.init("r", monitor=False) as run:
        copied(run)["a"].append(1.0)

    assert tracker.values("a") == [1.0]
    assert len(tracker.frames) == 1


def test_a_handle_of_a_finished_run_joins_it_by_a_spool_of_its_own(tracker):
    run = init("r")
    data = pickle.dumps(run)
    run.finish()

    other = pickle.loads(data)
    other["a"].append(1.0)
    other.finish()

    assert [m["run"] for m in tracker.of_kind("open")] == ["r", "r"]
    assert len(tracker.frames) == 2


def test_a_disabled_run_does_nothing(tracker, spool_root):
    with init(mode="disabled") as run:
        run["a"].append(1.0)

    assert not spool_root.exists()
    assert tracker.requests == []


def test_logging_from_many_threads_loses_nothing(tracker):
    run = init()

    def log(name):
        for _ in range(1000):
            run[name].append(1.0)

    threads = [threading.Thread(target=log, args=(f"t{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.finish()

    assert [len(tracker.values(f"t{i}")) for i in range(8)] == [1000] * 8


def test_points_arrive_while_the_run_lives(tracker):
    run = init()
    run["a"].append(1.0)

    wait_until(lambda: tracker.values("a") == [1.0])


def test_everything_delivered_leaves_no_spool_behind(tracker, spool_root):
    with init() as run:
        run["a"].append(1.0)

    assert list(spool_root.iterdir()) == []


def test_a_run_without_a_name_gets_a_readable_one(tracker):
    first, second = agent.init(monitor=False), agent.init(monitor=False)

    assert first.name.count("-") == 2
    assert first.name != second.name


EARLIEST = datetime.min  # noqa: DTZ901 - no time zone makes a moment of it


class Stamp(datetime):
    """A datetime of another class, as pandas has one."""


class Fraction:
    """TensorFlow's tensors have this interface, even if they hold no integer."""

    def __int__(self):
        return 0

    def __index__(self):
        raise TypeError("only integer tensors can be an index")

    def __float__(self):
        return 0.5


class Large:
    def __float__(self):
        raise OverflowError("too large for a float")

    def __str__(self):
        return "large"


def test_values_of_foreign_classes_are_stored_as_what_they_are(tracker):
    with init() as run:
        run["moment"] = Stamp(2024, 1, 2, tzinfo=timezone.utc)
        run["fraction"] = Fraction()
        run["large"] = Large()

    stored = tracker.attributes()
    assert stored["fraction"] == 0.5
    assert stored["large"] == "large"
    assert stored["moment"] == datetime(2024, 1, 2, tzinfo=timezone.utc)


@pytest.mark.parametrize("time", [1e300, -1.0, EARLIEST, 1e12], ids=repr)
def test_a_time_that_cannot_be_stored_costs_one_point_only(tracker, caplog, time):
    with init() as run:
        run["a"].append(1.0)
        run["a"].append(2.0, time=time)
        run["first"] = EARLIEST

    assert tracker.values("a") == [1.0]
    assert "not a time from 1970 to 9999" in caplog.text


def test_what_cannot_be_encoded_takes_nothing_else_with_it(tracker, caplog):
    with init() as run:
        run["a"].append(1.0)
        # As no call of a script does: each cleans its paths.
        run.log_at({"half of a pair \ud800": 1.0}, 0.0, time.time_ns() // 1_000)
        run["b"] = 2

    assert tracker.values("a") == [1.0]
    assert tracker.attributes()["b"] == 2
    assert [m["points"] for m in tracker.of_kind("drop")] == [1]
    assert "cannot be encoded" in caplog.text


def test_names_beyond_the_limit_take_no_memory(tracker, monkeypatch):
    monkeypatch.setattr("seamark.recording.path_types.LARGEST_RUN", 10)
    monkeypatch.setattr("seamark.run.LARGEST_RUN", 10)
    with init() as run:
        for number in range(100):
            run[f"a/{number}"].append(1.0)

        assert len(run._attributes) == 10


def test_a_run_that_does_not_wait_for_delivery_is_written_to_its_end(spool_root):
    run = init(mode="offline")
    run["a"].append(1.0)
    run.finish(timeout=0)

    (folder,) = spool_root.iterdir()
    frames = SpoolReader(folder).frames_from(1, most_bytes=2**30)
    kinds = [m["t"] for frame in frames for m in msgspec.msgpack.decode(frame.payload)]
    assert kinds == ["open", "points", "close"]


class Waiting:
    """An array of a lazy framework, which computes on conversion."""

    def __init__(self, do):
        self.do = do

    def __float__(self):
        return self.do()


def test_ctrl_c_while_a_value_is_waited_for_reaches_the_script(tracker):
    def interrupt():
        raise KeyboardInterrupt

    with init() as run:
        run["a"].append(1.0)
        run.log({"a": 1.0, "b": 1.0})
        for log in (
            lambda: run["a"].append(Waiting(interrupt)),
            lambda: run.log({"a": 1.0, "b": Waiting(interrupt)}),
        ):
            with pytest.raises(KeyboardInterrupt):
                log()
        run["a"].append(2.0)

    assert points(tracker, "a") == {"a": [(0, 1), (1, 1), (2, 2)]}


def test_a_run_can_end_while_another_thread_waits_for_a_value(tracker):
    asked, may_answer = threading.Event(), threading.Event()

    def answer():
        asked.set()
        assert may_answer.wait(60)
        return 1.0

    run = init()
    run["a"].append(1.0)
    thread = threading.Thread(target=lambda: run["a"].append(Waiting(answer)))
    thread.start()
    assert asked.wait(60)

    run.finish()
    may_answer.set()
    thread.join(60)

    assert tracker.values("a") == [1.0]


@pytest.mark.parametrize("time", [0, 1e10, 253_402_214_399])
def test_any_time_up_to_the_year_9999_is_kept(tracker, time):
    with init() as run:
        run["a"].append(1.0, time=time)
        run["a"].append(1.0, time=time)
        run.log({"b": 1.0}, time=time)
        run["c"].extend([1.0], times=[time])

    assert tracker.times("a") == 2 * [round(time * 1e6)]
    assert tracker.times("b") == tracker.times("c") == [round(time * 1e6)]


@pytest.mark.parametrize(
    "value", ["text", None, 1j, np.complex128(3 + 4j), np.zeros(2)]
)
def test_what_is_no_number_is_refused_also_where_there_was_one(tracker, value):
    with init() as run:
        for number in (1.0, value, 2.0):
            run["a"].append(number)
            run.log({"b": number, "c": number})

    assert tracker.values("a") == tracker.values("b") == [1.0, 2.0]
    # Rejected values do not use up a step.
    assert tracker.steps("a") == tracker.steps("c") == [0, 1]


def test_calls_of_log_share_their_steps(tracker):
    with init() as run:
        for epoch in range(2):
            for batch in range(3):
                run.log({"loss": batch})
                run.log({"rate": batch, "norm": 1.0})
            run.log({"val": epoch, "sample": "text"})
            run.log({"best": epoch}, step=None)

    found = points(tracker, "loss", "rate", "val", "best")
    assert found == {
        "loss": [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)],
        "rate": [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)],
        "val": [(2, 0), (5, 1)],
        "best": [(2, 0), (5, 1)],
    }
    (text,) = tracker.of_kind("records")
    assert struct.unpack("<2d", text["steps"]) == (2, 5)


def test_series_that_are_logged_alone_and_together_have_a_step_once(tracker):
    with init() as run:
        run.log({"a": 0, "b": 0})
        run["a"].append(1)
        run.log({"a": 2, "b": 1})
        run.log({"b": 2, "c": 0}, step=10)
        run.log({"a": 3, "b": 3})
        run["b"].append(4)
        run.log({"c": 1, "a": 4})

    assert points(tracker, "a", "b", "c") == {
        "a": [(0, 0), (1, 1), (2, 2), (11, 3), (12, 4)],
        "b": [(0, 0), (2, 1), (10, 2), (11, 3), (12, 4)],
        "c": [(10, 0), (12, 1)],
    }


def test_of_two_names_of_a_path_the_last_counts(tracker):
    with init() as run:
        for value in (1.0, 2.0):
            run.log({"a": 0.0, "/a": value, "b": 0.0})

    assert points(tracker, "a", "b") == {
        "a": [(0, 1), (1, 2)],
        "b": [(0, 0), (1, 0)],
    }


def test_steps_of_numpy_are_steps(tracker):
    with init() as run:
        for step in np.arange(3):
            run.log({"a": 1.0}, step=step)

    assert tracker.steps("a") == [0, 1, 2]


def test_keys_that_are_members_of_an_enumeration_of_text_are_that_text(tracker):
    class Name(str, Enum):
        LOSS = "loss"

    with init() as run:
        run.log({Name.LOSS: 1.0})
        run.log({"loss": 2.0})
        run.log({Name.LOSS: 3.0})

    assert tracker.values("loss") == [1.0, 2.0, 3.0]


def test_threads_that_name_a_series_first_at_once_share_its_steps():
    """Both have looked in vain when the one of them adds it."""
    layouts = Layouts(lambda layout: False)
    found = []
    another = threading.Thread(target=lambda: found.append(layouts.of(("a",))))
    with layouts._adding:
        another.start()
        wait_until(another.is_alive)
        # It waits for the lock by now, or will: it has looked, or will look again.
        time.sleep(0.05)
        found.append(layouts.of(("a",)))
    another.join(60)

    assert found[0] is found[1]


class Missing(Mapping):
    """Settings with a missing value, as in OmegaConf."""

    def __getitem__(self, key):
        if key == "missing":
            raise LookupError(key)
        return {"lr": 0.1, "depth": 3}[key]

    def __iter__(self):
        return iter(["lr", "missing", "depth"])

    def __len__(self):
        return 3


class Endless(UserDict):
    def __iter__(self):
        raise RuntimeError("no")


class Nameless:
    __hash__ = object.__hash__

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


class Unhashable:
    def __hash__(self):
        raise ValueError("no")

    __repr__ = object.__repr__


# A single object, because its address is part of the message.
UNHASHABLE = Unhashable()


class Lazy:
    """A proxy whose target is unavailable."""

    @property
    def __class__(self):
        raise RuntimeError("unbound")


class Secretive:
    """Raises on each attribute access."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError("no")


class NoPath:
    def __fspath__(self):
        raise RuntimeError("no")


CALLS = {
    "a mapping that cannot be iterated": lambda run: run.__setitem__("x", Endless()),
    "logging one": lambda run: run.log(Endless()),
    "a key without text": lambda run: run.__setitem__("x", {Nameless(): 1}),
    "logging a key without text": lambda run: run.log({Nameless(): 1}),
    "a set of what has no text": lambda run: run.__setitem__("x", {Nameless()}),
    "a value that hides its class": lambda run: run.__setitem__("x", Lazy()),
    "appending it": lambda run: run["x"].extend([Lazy()]),
    "a value that raises": lambda run: run.__setitem__("x", Secretive()),
    "logging what raises": lambda run: run.log({"x": Secretive()}),
    "appending what raises": lambda run: run["x"].extend([Secretive()]),
    "a number that cannot be iterated": lambda run: run["x"].extend(5),
    "an array without axes": lambda run: run["x"].extend(np.array(1.0)),
    "too few steps": lambda run: run["x"].extend([1.0, 2.0], steps=[1]),
    "too many steps": lambda run: run["x"].extend([1.0], steps=itertools.count()),
    "a number for steps": lambda run: run["x"].extend([1.0], steps=3),
    "a pattern that is none": lambda run: run["x"].upload_files(None),
    "a pattern that raises": lambda run: run["x"].upload_files(NoPath()),
    "a file that is none": lambda run: run["x"].upload(None),
    "a path that raises": lambda run: run["x"].upload(NoPath()),
    "a type that is none": lambda run: run["x"].upload(b"", media_type=5),
    "a path that is a list": lambda run: run[["a"]].append(1.0),
    "a path whose hash raises": lambda run: run[UNHASHABLE].append(1.0),
    "a path without text": lambda run: run[Nameless()].append(1.0),
    "members below what is no path": lambda run: run.__setitem__(5, {"a": 1}),
    "a time that is none": lambda run: run["x"].append(1.0, time=Nameless()),
    "a step that is none": lambda run: run.log({"x": 1.0}, step=Nameless()),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_call_raises_and_what_it_refuses_is_said_once(tracker, caplog, call):
    with init() as run:
        call(run)
        call(run)
        run["b"].append(1.0)

    assert tracker.values("b") == [1.0]
    assert tracker.attributes() == {}
    assert [r.getMessage().startswith("not logged") for r in caplog.records] == [True]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_strict_run_raises_an_error_of_its_own(tracker, call):
    with init(strict=True) as run, pytest.raises(agent.AgentError):
        call(run)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_disabled_run_raises_nothing_either(tracker, call):
    with init(mode="disabled") as run:
        call(run)

    assert tracker.requests == []


def test_a_member_that_cannot_be_read_takes_no_other_along(tracker, caplog):
    with init(params=Missing()) as run:
        run.log({"loss": 1.0, "more": Missing()})

    assert tracker.attributes() == {"params/lr": 0.1, "params/depth": 3}
    assert tracker.values("more/depth") == [3]
    assert tracker.values("loss") == [1.0]
    assert "'params/missing'" in caplog.text
    assert "'more/missing'" in caplog.text


def test_a_dictionary_may_change_while_it_is_logged(tracker):
    changing = {"a": 1.0, "b": 2.0}

    class Growing:
        """Another thread may run during the conversion of a number."""

        def __float__(self):
            changing[f"more/{len(changing)}"] = 0.0
            return 3.0

    with init() as run:
        for _ in range(3):
            changing["b"] = 2.0
            run.log(changing)
            changing["b"] = Growing()
            run.log(changing)

    assert tracker.values("a") == 6 * [1.0]
    assert tracker.values("b") == 3 * [2.0, 3.0]


@pytest.mark.parametrize(
    ("said", "failure"),
    [(None, "None"), (5, "5"), ("half \ud800", "half ?"), (Nameless(), "a Nameless")],
    ids=["None", "a number", "half of a pair", "no text"],
)
def test_whatever_is_said_of_a_failure_the_run_has_failed(tracker, said, failure):
    init().fail(said)

    (close,) = tracker.of_kind("close")
    assert (close["state"], close["failure"]) == ("failed", failure)


def test_what_cannot_be_appended_takes_nothing_else_of_a_list_along(tracker, caplog):
    with init() as run:
        run["a"].extend([1.0, None, 2.0])
        run["b"].extend([1.0, object(), 2.0], steps=(n for n in (5, 6, 7)))
        run["c"].extend([1.0, 2.0], times=[-1.0, 1e9])

    assert tracker.values("a") == [1.0, 2.0]
    assert tracker.steps("a") == [0, 1]
    assert tracker.steps("b") == [5, 7]
    assert tracker.times("c") == [10**15]
    assert len(caplog.records) == 3


class Figure:
    def savefig(self, to, format):  # noqa: A002 - as Matplotlib calls it
        to.write(b"drawn")


class Table:
    shape = (3, 2)

    def to_csv(self):
        return "a,b\n"

    def __array__(self):
        raise AssertionError


class TableOfPolars:
    """Has some methods of images, and another name for CSV."""

    shape = (2, 2)

    def write_csv(self):
        return "a,b\n1,2\n"

    def __array__(self, *_, **__):
        return np.ones((2, 2))


class TableOfArrow:
    shape = (2, 2)
    column_names = ("a", "b")

    def __array__(self, *_, **__):
        return np.ones((2, 2))


def test_a_data_frame_of_polars_is_a_table(tracker):
    with init(strict=True) as run:
        run["assigned"] = TableOfPolars()
        run["uploaded"].upload(TableOfPolars())

    found = {m["path"]: (m["type"], m["name"]) for m in tracker.of_kind("file")}
    assert found == {
        "assigned": ("text/csv", "assigned.csv"),
        "uploaded": ("text/csv", "uploaded.csv"),
    }


def test_a_table_that_knows_no_csv_is_no_picture(tracker, caplog):
    with init() as run:
        run["uploaded"].upload(TableOfArrow())

    assert "to_pandas()" in caplog.text
    assert tracker.of_kind("file") == []


def test_figures_and_tables_that_are_assigned_are_files(tracker):
    with init(strict=True) as run:
        run["figure"] = Figure()
        run["params"] = {"table": Table(), "lr": 0.1}
        run["figure"] = Figure()

    found = {m["path"]: (m["type"], m["name"]) for m in tracker.of_kind("file")}
    assert found == {
        "figure": ("image/png", "figure.png"),
        "params/table": ("text/csv", "table.csv"),
    }
    assert tracker.attributes() == {"params/lr": 0.1}


def test_an_image_and_a_figure_of_frameworks_that_are_assigned_are_files(tracker):
    pil = pytest.importorskip("PIL.Image")
    plotly = pytest.importorskip("plotly.graph_objects")
    with init(strict=True) as run:
        run["image"] = pil.new("RGB", (3, 2))
        run["plot"] = plotly.Figure(plotly.Scatter(y=[1, 2]))

    assert {m["path"] for m in tracker.of_kind("file")} == {"image", "plot"}


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([0.5, 1.0]), "[0.5, 1.0]"),
        (np.array([[5, 0], [1, 4]]), "[[5, 0], [1, 4]]"),
        (np.arange(1_000), str(list(range(1_000)))),
        (np.zeros(0), "[]"),
        (np.array(["a", "b"]), '["a", "b"]'),
        (
            np.array(["2024-01-01", "2024-01-02"], "M8[D]"),
            '["2024-01-01", "2024-01-02"]',
        ),
    ],
)
def test_a_small_array_that_is_assigned_is_its_list(tracker, array, text):
    with init(strict=True) as run:
        run["a"] = array

    assert tracker.attributes() == {"a": text}


def test_a_large_array_is_refused_and_leaves_its_path(tracker, caplog):
    with init() as run:
        run["a"] = np.zeros((40, 40))
        run["a"].upload(np.zeros((40, 40)))

    assert tracker.attributes() == {}
    assert {m["path"] for m in tracker.of_kind("file")} == {"a"}
    (large,) = (record.getMessage() for record in caplog.records)
    assert "of 1,600 elements is too large" in large
    assert "agent.Histogram" in large


def test_a_tensor_that_is_assigned_is_its_list_or_is_refused(tracker, caplog):
    torch = pytest.importorskip("torch")
    with init() as run:
        run["small"] = torch.tensor([1.0, 2.0], requires_grad=True)
        run["large"] = torch.zeros(3, 64, 64)

    assert tracker.attributes() == {"small": "[1.0, 2.0]"}
    assert "of 12,288 elements is too large" in caplog.text


class Space:
    """Has a shape but is no array, like spaces of reinforcement learning."""

    shape = (4,)

    def __repr__(self):
        return "Space(4)"


def test_what_has_a_shape_and_is_no_array_is_its_text(tracker):
    with init(strict=True) as run:
        run["space"] = Space()
        run["class"] = Table
        run["stream"] = io.StringIO

    stored = tracker.attributes()
    assert stored["space"] == "Space(4)"
    assert stored["class"].startswith("<class ")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_of_numpy_are_moments_in_utc(tracker, unit):
    with init(strict=True) as run:
        run["a"] = np.datetime64("2024-01-01T00:00:01", unit)
        run["b"] = np.array(["2024-01-01T00:00:01"], f"M8[{unit}]")
        run["c"] = np.timedelta64(1, "s").astype(f"m8[{unit}]")

    moment = datetime(2024, 1, 1, 0, 0, 1, tzinfo=timezone.utc)
    found = tracker.attributes()
    assert found == {"a": moment, "b": moment, "c": str(timedelta(seconds=1))}


def test_what_numpy_has_of_time_beyond_python_is_its_text(tracker):
    with init(strict=True) as run:
        run["day"] = np.datetime64("2024-01-01")
        run["none"] = np.datetime64("NaT", "ns")
        run["far"] = np.datetime64("12000-01-01T00", "s")

    assert tracker.attributes() == {
        "day": "2024-01-01",
        "none": "NaT",
        "far": "12000-01-01T00:00:00",
    }


def test_a_moment_is_no_number_of_a_series(tracker, caplog):
    with init() as run:
        run["a"].append(1)
        run["a"].append(np.datetime64("2024-01-01", "ns"))
        run["a"].extend([np.datetime64("2024-01-01", "ns")])
        run["b"].append(np.timedelta64(5, "ns"))
        run["b"].append(2**60)

    assert tracker.values("a") == [1.0]
    assert tracker.values("b") == [2.0**60]
    assert "is a time, not a number" in caplog.text


def test_settings_written_as_classes_are_their_members(tracker):
    @dataclasses.dataclass
    class Model:
        depth: int = 3
        kind: dataclasses.InitVar[str] = "mlp"

        def __post_init__(self, kind):
            self.name = f"{kind}-{self.depth}"

    # Slots of dataclasses came with Python 3.10.
    @dataclasses.dataclass(slots=True)
    class Settings:
        lr: float
        model: Model
        late: int = dataclasses.field(init=False)

    with init(params=Settings(0.1, Model())) as run:
        run["arguments"] = argparse.Namespace(epochs=3)

    assert tracker.attributes() == {
        "params/lr": 0.1,
        "params/model/depth": 3,
        "params/model/name": "mlp-3",
        "arguments/epochs": 3,
    }


def test_values_set_before_the_first_point_are_marked_as_early(tracker):
    with agent.init("r", monitor=False, params={"lr": 0.1}) as run:
        run["model"] = {"width": 128}
        run["train/loss"].append(1.0)
        run["test/accuracy"] = 0.9

    early = {m["path"] for m in tracker.of_kind("set") if m.get("early")}
    assert early == {"params/lr", "model/width"}
