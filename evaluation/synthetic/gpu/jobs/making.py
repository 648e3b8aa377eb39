"""Shared parts of jobs: a model and its training, batches on the device."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from evaluation.synthetic.gpu.data import Batch, Tokens
from evaluation.synthetic.gpu.models import Transformer
from evaluation.synthetic.gpu.training import Setting, Work

# More than any of these jobs has steps in an epoch.
ENDLESS = 1_000_000


def work_of(
    setting: Setting,
    model: nn.Module,
    loss_of: Callable[..., Tensor],
    *,
    foreach: bool | None = None,
    fused: bool | None = None,
    autocast: torch.dtype | None = torch.bfloat16,
) -> Work:
    model = model.to(setting.device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-4, foreach=foreach, fused=fused
    )
    return Work(model, optimizer, loss_of, setting.device, autocast)


def token_batch(
    setting: Setting, batch_size: int, length: int, vocabulary: int
) -> Batch:
    """Return a batch of sequences that lies on the device."""
    examples = Tokens(batch_size, length, vocabulary)
    parts = zip(*(examples[number] for number in range(batch_size)), strict=True)
    return tuple(torch.stack(part).to(setting.device) for part in parts)


def transformer(
    setting: Setting, *, width: int, depth: int, length: int, vocabulary: int
) -> Transformer:
    return Transformer(
        vocabulary=vocabulary,
        width=setting.size(width, 32),
        depth=depth,
        heads=max(1, setting.size(width, 32) // 64),
        longest=length,
    )
