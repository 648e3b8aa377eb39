import json
import sys
import threading
import time

from seamark.probes.process.call_tree import (
    MAX_NODES,
    MAX_WRITTEN,
    CallTree,
    current_frame,
    is_library,
    profile_text,
)


def leaf(tree):
    tree.add(sys._getframe())


def caller(tree):
    leaf(tree)


def read(trees, folder="/nowhere"):
    """Return the format's stacks with samples, as {names from the root: samples}."""
    profile = json.loads(profile_text(trees, folder))
    found = {}
    for tree, values in profile["trees"].items():
        stacks = []
        for at in range(0, len(values), 3):
            parent, name, count = values[at : at + 3]
            above = stacks[parent] if parent >= 0 else ()
            stacks.append((*above, tuple(profile["names"][name])))
            if count:
                key = (tree, *(place[0] for place in stacks[-1]))
                found[key] = found.get(key, 0) + count
    return profile, found


def test_samples_are_counted_where_the_stack_ends():
    tree = CallTree()
    for _ in range(3):
        caller(tree)
    leaf(tree)

    profile, stacks = read({"steps": tree})

    assert profile["samples"] == {"steps": 4}
    ends = {names[-2:]: count for names, count in stacks.items()}
    assert ends[("caller", "leaf")] == 3
    assert sum(stacks.values()) == 4


def test_lines_of_the_script_have_a_file_and_a_line():
    tree = CallTree()
    leaf(tree)

    profile, _ = read({"steps": tree}, folder=__file__.rpartition("/")[0])
    line = leaf.__code__.co_firstlineno + 1

    assert ["leaf", "test_call_tree.py", line] in profile["names"]


def test_of_libraries_the_function_that_the_script_calls_and_the_last_are_kept():
    tree = CallTree()
    encoder = json.JSONEncoder(default=lambda _: leaf(tree) or 0)
    json.dumps({"a": object()}, cls=lambda **_: encoder)

    (stack,) = read({"steps": tree})[1]

    # The functions of the package between them are left out.
    assert stack[stack.index("dumps") + 1].endswith("<lambda>")


def test_a_waiting_thread_is_at_the_function_that_waits():
    event = threading.Event()
    waits = threading.Thread(target=event.wait)
    waits.start()
    time.sleep(0.05)
    tree = CallTree()
    tree.add(current_frame(waits.ident))
    event.set()
    waits.join()

    (stack,) = read({"steps": tree})[1]
    assert stack[-1].rpartition(".")[2] == "wait"


def test_a_thread_that_has_ended_has_no_frame():
    ended = threading.Thread(target=int)
    ended.start()
    ended.join()
    assert current_frame(ended.ident) is None


def test_python_and_packages_are_libraries():
    assert is_library(json.__file__)
    assert is_library("<frozen importlib._bootstrap>")
    assert is_library(sys.modules["pytest"].__file__)
    assert not is_library(__file__)


def many(tree, number):
    """Take a sample in each of `number` functions."""
    for index in range(number):
        space = {"leaf": leaf, "tree": tree}
        exec(f"def f{index}():\n    leaf(tree)\nf{index}()", space)


def test_rare_places_count_at_their_callers():
    tree = CallTree()
    many(tree, MAX_NODES)
    for _ in range(10):
        caller(tree)  # a new place, for which there is no room

    profile, stacks = read({"steps": tree})

    assert len(profile["trees"]["steps"]) == 3 * MAX_WRITTEN
    assert sum(stacks.values()) == MAX_NODES
    assert profile["samples"]["steps"] == MAX_NODES + 10
    assert len(profile_text({"steps": tree}, "")) < 32_000


def test_paths_outside_of_the_working_folder_are_shortened():
    tree = CallTree()
    leaf(tree)
    profile, _ = read({"steps": tree})
    files = {file for _, file, line in profile["names"] if line}
    assert all(file.count("/") <= 1 for file in files)
