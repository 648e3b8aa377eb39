"""Tests of each guarantee, and their number of examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.faults.case import POSTGRESQL, SQLITE

BOTH = (SQLITE, POSTGRESQL)
# Read by the tests, to try more examples.
EXAMPLES = "TEST_EXAMPLES"
STORIES = "TEST_STORE_EXAMPLES"

DAMAGE = "tests/tracker/integrity/test_databases.py"
HTTP = "tests/tracker/api/v1/test_bad_input.py"
SERVER = "tests/slow/end_to_end/test_bad_input.py"
PARSER = "tests/tracker/queries/run_query/test_parser.py"


@dataclass(frozen=True, slots=True)
class Case:
    """Tests by their IDs; `counted` is the unit of their examples.

    Without it each test is an entry of a fixed list. `in_full` is the amount that the
    guarantee specifies, if the default is smaller.
    """

    title: str
    tests: Sequence[str]
    databases: Sequence[str] = BOTH
    variable: str = EXAMPLES
    examples: int = 0
    counted: str = ""
    in_full: str = ""


CASES = {
    "SF-02": Case(
        "settings of PostgreSQL with which a commit is none are named",
        [f"{DAMAGE}::test_settings_of_postgresql_are_judged"],
        (SQLITE,),
    ),
    "SF-04": Case(
        "on SQLite one connection writes or checkpoints at a time",
        [
            "tests/slow/faults/test_one_writer.py",
            "tests/tracker/embedded/sqlite/test_base.py",
            f"{DAMAGE}::test_an_old_sqlite_is_noted_with_what_we_do_about_it",
        ],
        (SQLITE,),
    ),
    "SF-08": Case(
        "the store against a dictionary: stories of what may happen to a run",
        ["tests/tracker/ingest/test_store_model.py"],
        variable=STORIES,
        examples=800,
        counted="stories",
        in_full="20,000 stories",
    ),
    "BI-01": Case(
        "the API against its description, as everybody",
        ["tests/tracker/api/test_schema_fuzz.py"],
        examples=25,
        counted="requests",
    ),
    "BI-02": Case(
        "numbers come back bit by bit",
        [
            f"{HTTP}::test_any_bits_of_a_number_come_back",
            f"{HTTP}::test_every_bit_of_a_point_is_stored_and_every_finite_one_answered",
            f"{HTTP}::test_a_number_beyond_those_of_64_bits_is_named",
            f"{HTTP}::test_a_set_number_is_answered_as_it_was",
            f"{HTTP}::test_an_integer_is_answered_digit_by_digit",
            "tests/tracker/series/test_codec.py::test_points_come_back_bit_by_bit",
        ],
        examples=1_000,
        counted="numbers",
    ),
    "BI-03": Case(
        "names and texts are stored as they came, or refused",
        [
            f"{HTTP}::test_any_text_is_stored_as_it_came_or_refused",
            f"{HTTP}::test_names_that_look_alike_are_kept_apart_as_they_came",
            f"{HTTP}::test_a_name_opens_what_has_exactly_this_name",
            f"{HTTP}::test_twins_in_other_normal_forms_are_two_projects",
            f"{HTTP}::test_what_no_database_can_hold_is_refused_message_by_message",
            f"{HTTP}::test_the_longest_texts_come_back_and_longer_ones_are_refused",
            f"{HTTP}::test_the_largest_path_of_any_kind_of_value_can_be_stored",
        ],
        examples=1_000,
        counted="texts",
    ),
    "BI-06": Case(
        "lengths that lie, bodies without an end, headers without reason",
        [
            f"{SERVER}::{name}"
            for name in (
                "test_a_declared_length_beyond_the_limit_is_refused_unread",
                "test_a_length_that_is_none_is_not_http",
                "test_a_body_that_ends_before_its_length_is_malformed",
                "test_a_body_in_chunks_needs_a_length",
                "test_chunks_without_end_are_refused_unread",
                "test_unreasonable_headers_are_refused",
                "test_what_is_not_http_is_refused",
                "test_bodies_of_which_nothing_comes_end_too",
            )
        ],
        (SQLITE,),
    ),
    "BI-07": Case(
        "steps and times that have no place are refused",
        [f"{HTTP}::test_steps_and_times_that_have_no_place_are_refused"],
    ),
    "BI-08": Case(
        "one bad record in a thousand is refused alone, and the others stored once",
        [
            f"{HTTP}::test_one_bad_record_in_a_thousand_is_reported_and_the_others_stored_once"
        ],
        examples=50,
        counted="batches",
    ),
    "BI-10": Case(
        "queries, and what is none, are read or refused",
        [PARSER, "tests/tracker/queries/test_run_query.py"],
        examples=2_000,
        counted="examples",
    ),
}
