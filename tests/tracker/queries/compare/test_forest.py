"""The forest finds the features that a value depends on."""

from __future__ import annotations

import numpy as np
import pytest

from tracker.queries.compare.forest import grow, permutation_importance


@pytest.fixture
def generator():
    return np.random.default_rng(7)


def test_a_tree_without_noise_returns_what_it_was_grown_on(generator):
    x = np.repeat(np.arange(8.0), 2)[:, None]
    y = (x[:, 0] - 3) ** 2

    tree = grow(x, y, generator)

    assert tree.predict(x) == pytest.approx(y)


def test_a_constant_value_is_one_leaf(generator):
    tree = grow(np.arange(12.0)[:, None], np.full(12, 0.1), generator)

    assert tree.predict(np.array([[3.0], [99.0]])) == pytest.approx([0.1, 0.1])


def test_shuffling_the_only_cause_loses_most(generator):
    x = generator.normal(size=(120, 4))
    features = [x[:, place, None] for place in range(4)]

    found = permutation_importance(features, 3 * x[:, 2])

    assert found.importances.argmax() == 2
    assert found.importances[2] > 20 * np.delete(found.importances, 2).max()
    assert found.explained > 0.9


def test_a_product_counts_for_both_factors(generator):
    x = generator.uniform(-1, 1, size=(300, 3))
    features = [x[:, place, None] for place in range(3)]

    found = permutation_importance(features, x[:, 0] * x[:, 1])

    assert min(found.importances[:2]) > 5 * found.importances[2]


def test_noise_is_not_explained(generator):
    x = generator.normal(size=(60, 3))
    features = [x[:, place, None] for place in range(3)]

    found = permutation_importance(features, generator.normal(size=60))

    assert found.explained <= 0


def test_columns_of_one_feature_are_shuffled_together(generator):
    word = generator.integers(3, size=150)
    columns = np.eye(3)[word]

    found = permutation_importance(
        [columns, generator.normal(size=(150, 1))], np.array([5.0, 1.0, 3.0])[word]
    )

    assert found.importances[0] == pytest.approx(2, abs=0.3)
    assert found.importances[1] < 0.02


def test_the_same_runs_have_the_same_result(generator):
    x = generator.normal(size=(30, 2))
    features = [x[:, :1], x[:, 1:]]

    first = permutation_importance(features, x[:, 0])
    second = permutation_importance(features, x[:, 0])

    assert first.importances.tolist() == second.importances.tolist()
