"""A training with known memory use, in this process or in a separate script."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from dataclasses import dataclass

import torch

MIB = 2**20
WIDTH, LAYERS = 4096, 8
LAYER_BYTES = 4 * WIDTH * WIDTH
FEW_ROWS, MANY_ROWS = 64, 16_384
BATCH_BYTES = 4 * WIDTH * MANY_ROWS
# Weights, gradients and Adam's state take 2 GiB; the activations of about half of the
# layers fit into the rest.
ROOM_BYTES = 4096 * MIB


@contextlib.contextmanager
def limited(more_bytes: int, device: str = "cuda:0") -> Iterator[None]:
    """Limit PyTorch to this many additional bytes, as on a smaller card."""
    gc.collect()
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(device).total_memory
    share = (torch.cuda.memory_reserved(device) + more_bytes) / total
    torch.cuda.set_per_process_memory_fraction(min(1.0, share), device)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)


@dataclass
class Made:
    """Number of activations of each kind in the last forward pass."""

    products: int = 0
    activations: int = 0


class Training:
    """Layers of equal size with Adam; gradients are kept between the steps."""

    def __init__(self, device: str = "cuda:0") -> None:
        self._device = device
        self.made = Made()
        layers: list[torch.nn.Module] = []
        for _ in range(LAYERS):
            product = torch.nn.Linear(WIDTH, WIDTH, bias=False)
            activation = torch.nn.ReLU()
            product.register_forward_hook(self._count_product)
            activation.register_forward_hook(self._count_activation)
            layers += [product, activation]
        self.model = torch.nn.Sequential(*layers).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-6)

    def step(self, rows: int) -> float:
        """Train on a batch; with MANY_ROWS rows it does not fit into ROOM_BYTES."""
        self.made = Made()
        self.optimizer.zero_grad(set_to_none=False)
        batch = torch.randn(rows, WIDTH, device=self._device)
        loss = self.model(batch).square().mean()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())

    @property
    def expected(self) -> dict[str, float]:
        """Expected memory by kind after a step that ran out of memory."""
        weights = LAYERS * LAYER_BYTES
        made = self.made
        # The batch, the tensors saved for the backward pass, and a product that its
        # activation has not replaced yet.
        count = 1 + made.activations + (made.products - made.activations)
        return {
            "parameters": weights,
            "gradients": weights,
            "optimizer": 2 * weights,
            "of the batch": count * BATCH_BYTES,
        }

    def _count_product(self, *_: object) -> None:
        self.made.products += 1

    def _count_activation(self, *_: object) -> None:
        self.made.activations += 1
