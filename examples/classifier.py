"""A small neural network that reads digits: NumPy on the CPU, PyTorch on a GPU.

Both do the same arithmetic in three phases, so that the training script can time
them: forward, backward, update.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from images import INPUT_PIXELS
from numpy.typing import NDArray

HIDDEN_UNITS = 768
CLASSES = 10
MOMENTUM = 0.9

Array = NDArray[np.float32]


class Classifier(Protocol):
    device: str

    def forward(self, pixels: NDArray[np.uint8], labels: NDArray[np.int64]) -> float:
        """Return the mean cross-entropy of a mini-batch."""

    def backward(self) -> None: ...

    def update(self, learning_rate: float) -> None: ...

    def predict(self, pixels: NDArray[np.uint8]) -> NDArray[np.int64]: ...

    def weights(self) -> list[Array]: ...


def make_classifier(*, seed: int = 0) -> Classifier:
    """Use a GPU when PyTorch is installed and sees one."""
    weights = initial_weights(seed)
    try:
        import torch  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        return NumpyClassifier(weights)
    if not torch.cuda.is_available():
        return NumpyClassifier(weights)
    return TorchClassifier(weights, device="cuda")


def initial_weights(seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    sizes = [INPUT_PIXELS * INPUT_PIXELS, HIDDEN_UNITS, HIDDEN_UNITS, CLASSES]
    weights: list[Array] = []
    for inputs, outputs in pairwise(sizes):
        scale = np.sqrt(2 / inputs)
        weights.append(random.normal(0, scale, (inputs, outputs)).astype(np.float32))
        weights.append(np.zeros(outputs, np.float32))
    return weights


def save_weights(classifier: Classifier, path: Path) -> None:
    np.savez(path, *classifier.weights())


def load_classifier(path: Path) -> Classifier:
    with np.load(path) as saved:
        return NumpyClassifier([saved[name] for name in saved.files])


def normalized(pixels: NDArray[np.uint8]) -> Array:
    flat: Array = pixels.reshape(len(pixels), -1).astype(np.float32)
    flat -= 96
    flat /= 96
    return flat


class NumpyClassifier:
    device = "cpu"

    def __init__(self, weights: list[Array]) -> None:
        self._weights = weights
        self._velocity = [np.zeros_like(weight) for weight in weights]
        self._gradients: list[Array] = []
        self._activations: list[Array] = []
        self._error: Array = np.empty((0, CLASSES), np.float32)

    def forward(self, pixels: NDArray[np.uint8], labels: NDArray[np.int64]) -> float:
        scores = self._scores(normalized(pixels))
        scores -= scores.max(axis=1, keepdims=True)
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(probabilities[rows, labels] + 1e-9).mean()

        self._error = probabilities
        self._error[rows, labels] -= 1
        self._error /= len(labels)
        return float(loss)

    def backward(self) -> None:
        error = self._error
        gradients: list[Array] = []
        for layer in reversed(range(len(self._activations))):
            inputs = self._activations[layer]
            gradients = [inputs.T @ error, error.sum(axis=0), *gradients]
            if layer:
                error = (error @ self._weights[2 * layer].T) * (inputs > 0)
        self._gradients = gradients

    def update(self, learning_rate: float) -> None:
        for weight, velocity, gradient in zip(
            self._weights, self._velocity, self._gradients, strict=True
        ):
            np.multiply(velocity, MOMENTUM, out=velocity)
            np.subtract(velocity, learning_rate * gradient, out=velocity)
            np.add(weight, velocity, out=weight)

    def predict(self, pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
        classes: NDArray[np.int64] = self._scores(normalized(pixels)).argmax(axis=1)
        return classes

    def weights(self) -> list[Array]:
        return self._weights

    def _scores(self, inputs: Array) -> Array:
        self._activations = []
        layers = list(zip(self._weights[::2], self._weights[1::2], strict=True))
        for index, (weight, bias) in enumerate(layers):
            self._activations.append(inputs)
            inputs = inputs @ weight + bias
            if index < len(layers) - 1:
                inputs = np.maximum(inputs, 0)
        return inputs


class TorchClassifier:
    def __init__(self, weights: list[Array], *, device: str) -> None:
        import torch  # noqa: PLC0415 - optional, and slow to import

        # PyTorch is not among the example's requirements, so its types are not either.
        self._torch: Any = torch
        self.device = device
        self._weights = [
            torch.tensor(weight, device=device, requires_grad=True)
            for weight in weights
        ]
        self._optimizer = torch.optim.SGD(self._weights, lr=1.0, momentum=MOMENTUM)
        self._loss: Any = None

    def forward(self, pixels: NDArray[np.uint8], labels: NDArray[np.int64]) -> float:
        targets = self._torch.as_tensor(labels, device=self.device)
        self._loss = self._torch.nn.functional.cross_entropy(
            self._scores(pixels), targets
        )
        return float(self._loss.item())

    def backward(self) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        self._loss.backward()

    def update(self, learning_rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.step()

    def predict(self, pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
        with self._torch.no_grad():
            predicted: NDArray[np.int64] = self._scores(pixels).argmax(1).cpu().numpy()
        return predicted

    def weights(self) -> list[Array]:
        return [weight.detach().cpu().numpy() for weight in self._weights]

    def _scores(self, pixels: NDArray[np.uint8]) -> Any:
        hidden = self._torch.as_tensor(normalized(pixels), device=self.device)
        layers = list(zip(self._weights[::2], self._weights[1::2], strict=True))
        for index, (weight, bias) in enumerate(layers):
            hidden = hidden @ weight + bias
            if index < len(layers) - 1:
                hidden = hidden.relu()
        return hidden
