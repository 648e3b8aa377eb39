"""Numbers look the same whether the server or the browser writes them."""

from __future__ import annotations

import json

import pytest

from web.run_names import RunNames
from web.templatetags.format import duration, number, percent

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NUMBERS = [
    0, 1, -1, 7, 1234, 1_234_567, 2**53 - 1, 2.0**60, 1e20, 1e300, 0.1, 0.123456, 1 / 3,
    9.9999, 9.99999, 99.999, 999.95, 1234.56, 12345.678, 123456789.5, 1.5e9, -0.25, 1e-4,
    9.9e-5, 1.234e-7, 5e-324, 1e9 + 0.5,
]  # fmt: skip
DURATIONS = [
    0, 0.0001, 0.0123456, 0.25, 0.9994, 0.9996, 1, 3.44, 9.96, 59.94, 59.96, 60, 61, 119.6,
    312, 3599, 3600, 3661, 7500, 86399, 86400, 90000, 1e6, -5, -90,
]  # fmt: skip
PERCENTAGES = [0, 0.04, 0.5, 4.56, 9.94, 9.96, 10, 45.6, 99.5, 100, 180, -3.2]
MODULE = "/static/web/js/core/format.js"


@pytest.mark.parametrize(
    ("name", "written", "values"),
    [
        ("number", number, NUMBERS),
        ("duration", duration, DURATIONS),
        ("percent", percent, PERCENTAGES),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_browser_and_the_server_agree(modules, name, written, values):
    # As in real use: whole floats travel through JSON and arrive as integers.
    shown = modules.evaluate(
        "async ([module, name, values]) => JSON.parse(values).map((await import(module))[name])",
        [MODULE, name, json.dumps([*values, None])],
    )

    assert dict(zip(values, shown, strict=False)) == {
        value: written(value) for value in values
    }
    assert shown[-1] == "–"


def test_numbers_of_a_column_have_as_many_digits(modules):
    shown = modules.evaluate(
        """async ([module, values]) => {
          const { paddedNumber, usesAllDigits } = await import(module)
          return values.map((value) => [paddedNumber(value), usesAllDigits(value)])
        }""",
        [MODULE, [0.7335, 0.758, 1.5, 0.0001, 2, 1.234e-7, 1.2e-7]],
    )

    assert shown == [
        ["0.7335", True],
        ["0.7580", False],
        ["1.500", False],
        ["0.0001000", False],
        ["2", False],
        ["1.234e\u22127", True],
        ["1.200e\u22127", False],
    ]


def test_the_browser_and_the_server_cut_names_alike(modules):
    sweep = [f"vit-small/{kind}-lr{rate}-seed{seed}-v2" for kind in ("sgd", "adam")
             for rate in ("1e-3", "0.1") for seed in range(2)]  # fmt: skip
    names = [*sweep, "baseline", "a b:c=d", "--odd--", "é" * 40, "my-first-run-2"]

    shown = modules.evaluate(
        """async (names) => {
          const { RunNames } = await import("/static/web/js/core/run_names.js")
          const known = new RunNames(names)
          return names.map((name) => known.partsOf(name)
            .filter(({ text }) => text).map(({ text, isCommon }) => [text, isCommon]))
        }""",
        names,
    )

    known = RunNames(names)
    assert shown == [[list(part) for part in known.parts(name)] for name in names]


CUT = """async ([parts, room]) => {
  const { shortened } = await import("/static/web/js/components/cut_name.js")
  return shortened(parts.map(([text, isCommon]) => {
    const letters = Array.from(text)
    return { isCommon, letters, widths: letters.map(() => 1) }
  }), room, 1)
}"""
SWEEP_NAME = [["vit-b16-in1k_", True], ["lr1e-4_", False], ["wd0.05_", True],
              ["mixup_", False], ["seed4", False], ["-imagenet", True]]  # fmt: skip


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (99, None),
        (46, "vit-b16-in1…lr1e-4_wd0.05_mixup_seed4-imagenet"),
        (35, "…lr1e-4_wd0.05_mixup_seed4-imagenet"),
        (30, "lr1e-4_wd…mixup_seed4-imagenet"),
        (25, "lr1e-4_wd0.05_mixup_seed4"),
        (12, "lr1e-4…seed4"),
        (4, "…ed4"),
    ],
)  # fmt: skip
def test_parts_that_all_names_share_are_cut_first_with_one_ellipsis(
    modules, room, shown
):
    assert modules.evaluate(CUT, [SWEEP_NAME, room]) == shown
