import numpy as np
import pytest
from classifier import NumpyClassifier, TorchClassifier, initial_weights
from images import INPUT_PIXELS


@pytest.fixture
def pixels():
    random = np.random.default_rng(1)
    return random.integers(0, 256, (6, INPUT_PIXELS, INPUT_PIXELS), np.uint8)


LABELS = np.array([0, 1, 2, 3, 4, 5])


def test_its_gradient_is_the_slope_of_its_loss(pixels):
    classifier = NumpyClassifier(
        [weight.astype(np.float64) for weight in initial_weights(0)]
    )
    classifier.forward(pixels, LABELS)
    classifier.backward()
    bias = classifier.weights()[3]
    promised = classifier._gradients[3][7]

    bias[7] += 1e-4
    above = classifier.forward(pixels, LABELS)
    bias[7] -= 2e-4
    below = classifier.forward(pixels, LABELS)

    assert promised == pytest.approx((above - below) / 2e-4, rel=1e-3)


def test_training_lowers_the_loss(pixels):
    classifier = NumpyClassifier(initial_weights(0))
    before = classifier.forward(pixels, LABELS)

    for _ in range(20):
        classifier.forward(pixels, LABELS)
        classifier.backward()
        classifier.update(0.001)

    assert classifier.forward(pixels, LABELS) < before / 2


def test_pytorch_and_numpy_agree(pixels):
    pytest.importorskip("torch")
    ours = NumpyClassifier(initial_weights(0))
    theirs = TorchClassifier(initial_weights(0), device="cpu")

    for classifier in (ours, theirs):
        for _ in range(3):
            classifier.forward(pixels, LABELS)
            classifier.backward()
            classifier.update(0.001)

    assert ours.forward(pixels, LABELS) == pytest.approx(
        theirs.forward(pixels, LABELS), rel=1e-3
    )
