"""Each missing input of a rule comes with a line of code, a command or advice."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

from tracker.diagnosis import rules
from tracker.diagnosis.engine.finding import NOT_APPLICABLE, TOO_SHORT
from tracker.diagnosis.engine.supply import Supply, supply_of
from tracker.diagnosis.rules import RULES
from tracker.diagnosis.signals import SIGNALS

# Values of local names in texts, such as "the peak of a {gpu_name}".
LOCAL = {"framework": "jax", "gpu_name": "NVIDIA T4", "torch_cuda": "13.4"}
LOADER = "for batch in run.loader(loader):"

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def texts_of(module: ModuleType) -> Iterator[str]:
    """Yield the missing inputs in the abstentions of a rule's module."""
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Abstention":
            yield from texts_in(call.args[0], module)


def texts_in(node: ast.expr, module: ModuleType) -> Iterator[str]:
    if isinstance(node, ast.Tuple):
        for each in node.elts:
            code = compile(ast.Expression(each), module.__name__, "eval")
            yield eval(code, {**vars(module), **LOCAL, "limits": module.Limits()})
    elif isinstance(node, ast.Name) and node.id.isupper():
        yield from getattr(module, node.id)


@every_rule
def test_every_rule_names_what_supplies_its_missing_data(rule):
    module = inspect.getmodule(rule.check)
    lacks = {TOO_SHORT, *rule.needs, *rule.may_use, *texts_of(module)} - NOT_APPLICABLE

    without = {lack for lack in lacks if not is_complete(supply_of(lack))}
    assert without == set()


def is_complete(supply: Supply | None) -> bool:
    """Return whether it is one line, or one sentence."""
    if supply is None:
        return False
    if supply.code:
        return not supply.advice and "\n" not in supply.code
    return supply.advice.endswith(".")


def test_every_signal_has_a_supply():
    assert [name for name in SIGNALS if not is_complete(supply_of(name))] == []


def test_every_abstention_is_found():
    found = [*texts_of(rules.steps_become_slower)]

    assert "at least 160 steps after warm-up" in found
    assert "a host whose cores are not taken by other jobs" in found
    assert [*texts_of(rules.local_storage_is_at_its_limit)] == [
        "workers_blocked",
        "io_pressure_share",
    ]


@pytest.mark.parametrize(
    ("lack", "supply"),
    [
        ("step_seconds", Supply(LOADER)),
        ("gpu_utilization_percent", Supply("docker run --gpus all")),
        ("at least 100 steps", Supply(advice="Log more steps.")),
        ("worker_cpu_cores", Supply("loader = DataLoader(dataset, num_workers=4)")),
        ("job_cpu_cores", Supply("SEAMARK_MONITOR=yes python train.py")),
        ("the time of saving, as a phase", Supply('with run.phase("checkpoint"):')),
    ],
)
def test_names_the_line(lack, supply):
    assert supply_of(lack) == supply


def test_an_unknown_text_has_none():
    assert supply_of("the unknown") is None
