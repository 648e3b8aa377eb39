"""The comparison state in an address."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from django.http import QueryDict

from web.pages.compare.state import Brush, CompareState, read_state

A, B, C = (UUID(int=number) for number in (1, 2, 3))


def test_reads_back_what_it_writes():
    state = CompareState(
        runs=(A, B),
        reference=B,
        tab="table",
        axis="time",
        together="params/lr",
        dash="params/optimizer",
        chart="a&b",
        everything=True,
        text="a&b=%",
        slots=(3, 0),
        hidden=(3,),
        smoothing=0.37,
        smoother="gaussian",
        log=True,
        logx=True,
        clip=True,
        regex=True,
        low=-0.1,
        high=1e300,
        left=B,
        right=A,
        view="split",
        stage="train",
        align="step",
        group="gpus",
        dimensions=("params/lr", "a:b"),
        brushes=(Brush("a:b", -0.5, 2.0),),
        colour="loss",
        x="x&",
        y="y",
        size="s",
        log_x=True,
        log_y=True,
        among=True,
        query="lr > 1",
    )

    assert read_state(QueryDict(state.address)) == state


def test_the_usual_is_left_out_of_the_address():
    assert CompareState(runs=(A,)).address == f"runs={A}"
    assert CompareState().address == ""


def test_keeps_the_order_and_each_run_once():
    assert read_state(QueryDict(f"runs={B},{A},{B},")).runs == (B, A)


def test_what_is_no_id_is_named_and_otherwise_harmless():
    state = read_state(QueryDict(f"runs={A},nonsense,<script>,a%00b,{'x' * 100}"))

    assert state.runs == (A,)
    assert state.unreadable == ("nonsense", "<script>", "a\0b", "x" * 40)


@pytest.mark.parametrize("query", ["tab=__proto__", "axis=sideways", "reference=x", ""])
def test_what_cannot_be_meant_is_the_usual(query):
    assert read_state(QueryDict(query)) == CompareState()


def test_an_axis_of_a_series_goes_before_any_other():
    assert read_state(QueryDict("axis=time&over=train/epoch")) == CompareState(
        over="train/epoch"
    )
    # As the charts of a run have it in their address.
    state = read_state(QueryDict("axis=series&over=a%26b&logx=1&clip=1"))
    assert (state.axis, state.over, state.logx, state.clip) == (
        *("step", "a&b", True, True),
    )
    assert read_state(QueryDict(state.address)) == state
    assert read_state(QueryDict("axis=series")) == CompareState()


@pytest.mark.parametrize(
    "text", ["x", "nan", "inf", "-0.1", "1", "1e400", "0.5.5", "٣x", "0" * 5_000 + "x"]
)
def test_a_smoothing_that_cannot_be_is_none(text):
    assert read_state(QueryDict(f"smoothing={text}")).smoothing == 0.0


def test_any_smoothing_to_two_digits_is_meant():
    assert read_state(QueryDict("smoothing=0.123456")).smoothing == 0.12
    assert CompareState(smoothing=0.07).address == "smoothing=0.07"


def test_no_more_of_a_path_is_kept_than_one_can_have():
    assert len(read_state(QueryDict(f"over={'x' * 9_000}")).over) == 2_048


def test_a_reference_must_be_among_the_runs():
    assert read_state(QueryDict(f"runs={A}&reference={B}")).reference is None


def test_counts_the_runs_beyond_the_most_that_are_compared():
    ids = ",".join(str(uuid4()) for _ in range(103))

    state = read_state(QueryDict(f"runs={ids}"))

    assert (len(state.runs), state.left_out) == (100, 3)


def test_the_address_of_as_many_as_can_be_fits_where_addresses_are_cut():
    runs = tuple(uuid4() for _ in range(100))
    slots = tuple(range(99, -1, -1))
    state = CompareState(
        runs=runs,
        slots=slots,
        hidden=tuple(range(50)),
        reference=runs[7],
        tab="parallel",
        dimensions=tuple(f"params/dimension-{number}" for number in range(12)),
        brushes=(Brush("params/dimension-1", 0.123456789, 123456789.0),),
        query="x" * 500,
    )

    # nginx and Apache limit request lines to 8 kB.
    assert len(state.address) < 6_000
    assert read_state(QueryDict(state.address)) == state


def test_removing_the_reference_leaves_the_usual_one():
    state = CompareState(runs=(A, B), reference=B)

    assert read_state(QueryDict(state.without(B))) == CompareState(runs=(A,))
    assert read_state(QueryDict(state.without(A))).reference == B


def changed(state: CompareState, asked: str) -> CompareState:
    return read_state(QueryDict(state.changed(asked)))


def test_a_run_takes_a_colour_and_whichever_had_it_takes_its():
    state = CompareState(runs=(A, B, C), hidden=(0, 2), reference=C, tab="table")

    swapped = changed(state, "colour.0.1")

    assert swapped.slot_of == {A: 1, B: 0, C: 2}
    # Those that were hidden still are.
    assert swapped.hidden == (1, 2)
    assert (swapped.runs, swapped.reference, swapped.tab) == ((A, B, C), C, "table")
    assert changed(swapped, "colour.1.0") == state


def test_a_run_takes_a_colour_that_is_free():
    state = CompareState(runs=(A, B), slots=(13, 4), hidden=(13,))

    assert changed(state, "colour.13.3") == replace(state, slots=(3, 4), hidden=(3,))


@pytest.mark.parametrize(
    "asked",
    [
        *("colour", "colour.", "colour.0", "colour.0.", "colour.0.x", "colour.0.100"),
        *("colour.0.-1", "colour.0.\u0663", "colour.7.1", "colour.x.1", "colour.0.0"),
    ],
)
def test_a_colour_that_cannot_be_changes_nothing(asked):
    state = CompareState(runs=(A, B), hidden=(1,))

    assert state.changed(asked) == state.address


def test_colours_are_of_values_only_where_these_are_drawn():
    by_value = CompareState(runs=(A, B), colour="params/lr")

    assert not by_value.is_coloured_by_run
    assert not replace(by_value, tab="scatter").is_coloured_by_run
    assert replace(by_value, tab="hardware").is_coloured_by_run
    assert replace(by_value, colour="").is_coloured_by_run
    assert not CompareState(together="params/lr").is_coloured_by_run


def test_a_run_keeps_its_colour_while_others_come_and_go():
    without_first = read_state(QueryDict(CompareState(runs=(A, B)).without(A)))
    with_another = read_state(QueryDict(without_first.along_with(C)))

    assert without_first.slot_of == {B: 1}
    assert with_another.slot_of == {B: 1, C: 0}


def test_hiding_and_showing_a_run_is_an_address():
    hidden = read_state(QueryDict(CompareState(runs=(A, B)).changed("hide.1")))

    assert hidden.hidden == (1,)
    assert read_state(QueryDict(hidden.changed("hide.1"))) == hidden
    assert read_state(QueryDict(hidden.changed("show.1"))).hidden == ()


def test_a_run_that_becomes_the_reference_is_shown():
    state = CompareState(runs=(A, B), hidden=(1,))

    changed = read_state(QueryDict(state.changed("pin.1")))

    assert (changed.reference, changed.hidden) == (B, ())


def test_a_run_that_is_removed_leaves_the_others_their_colours():
    state = CompareState(runs=(A, B), reference=A)

    changed = read_state(QueryDict(state.changed("remove.0")))

    assert changed == CompareState(runs=(B,), slots=(1,))


@pytest.mark.parametrize("asked", ["", "hide", "hide.", "hide.7", "x.1", "pin.-1", "."])
def test_a_change_that_cannot_be_meant_changes_nothing(asked):
    state = CompareState(runs=(A, B))

    assert state.changed(asked) == state.address


@pytest.mark.parametrize("colours", ["0.0", "1", "0.100", "x.y", "-1.0"])
def test_colours_that_cannot_be_meant_are_the_usual(colours):
    state = read_state(QueryDict(f"runs={A},{B}&colours={colours}"))

    assert state.slot_of == {A: 0, B: 1}


def test_adding_a_run_twice_adds_it_once():
    state = CompareState(runs=(A, B))

    assert read_state(QueryDict(state.along_with(C))).runs == (A, B, C)
    assert read_state(QueryDict(state.along_with(A))).runs == (A, B)


@pytest.mark.parametrize(
    "ends", ["low=1", "high=1", "low=2&high=1", "low=nan&high=1", "low=x&high=inf"]
)
def test_a_zoom_that_cannot_be_meant_is_none(ends):
    state = read_state(QueryDict(ends))

    assert (state.low, state.high) == (None, None)
