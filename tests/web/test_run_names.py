"""The parts of run names that are cut in narrow columns."""

from __future__ import annotations

from web.run_names import RunNames
from web.templatetags.format import cut_among

SWEEP = [
    "vit-small-patch16-sgd-lr1.0-seed1-augmix-v2",
    "vit-small-patch16-adamw-lr0.1-seed1-augmix-v2",
]


def test_what_the_names_of_a_sweep_share_is_cut():
    names = RunNames(SWEEP)

    for name in SWEEP:
        parts = names.parts(name)
        assert "".join(text for text, _ in parts) == name
        assert parts[0] == ("vit-small-patch16-", True)
        assert parts[-1] == ("seed1-augmix-v2", True)
    assert ("adamw-lr0.1-", False) in names.parts(SWEEP[1])


def test_the_end_of_a_name_like_no_other_stays():
    parts = RunNames(["baseline"]).parts("a-name-that-stands-by-itself")

    assert parts == [("a-name-that-st", True), ("ands-by-itself", False)]
    assert RunNames(["baseline"]).parts("baseline") == [("baseline", False)]


def test_an_exponent_is_part_of_its_number():
    names = RunNames([f"vit-b16-in1k_lr1e-{power}_seed0" for power in (3, 4)])

    assert ("lr1e-4_", False) in names.parts("vit-b16-in1k_lr1e-4_seed0")


def test_odd_names_have_parts():
    for name in ("", "-", "--a", "é" * 300, "a b:c"):
        assert "".join(text for text, _ in RunNames([name]).parts(name)) == name


def test_markup_in_a_name_is_escaped():
    assert "<b>" not in cut_among("<b>bold</b>-1", RunNames(["<b>bold</b>-2"]))


def test_a_word_that_only_some_names_have_is_never_cut():
    mixed = [f"vit-b16-mixup-0.2_seed{seed}" for seed in (0, 1)]
    others = [f"vit-b16-randaug-m9-n2_seed{seed}" for seed in (0, 1)]
    names = RunNames([*mixed, *others])

    assert names.parts(mixed[0]) == [
        ("vit-b16-", True),
        ("mixup-0.2_", False),
        ("seed0", False),  # stays longest
    ]
    assert names.parts(others[1])[1:] == [("randaug-m9-n2_", False), ("seed1", False)]
