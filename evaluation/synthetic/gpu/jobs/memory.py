"""Jobs that a GPU's memory is too small for, or nearly."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.synthetic.gpu.data import Batch, Repeated
from evaluation.synthetic.gpu.jobs.making import (
    ENDLESS,
    token_batch,
    transformer,
    work_of,
)
from evaluation.synthetic.gpu.models import Convolutions, classes, next_tokens
from evaluation.synthetic.gpu.training import (
    Setting,
    Work,
    free_memory,
    peak_bytes,
    timed,
    train,
    unseen,
)

MIB = 1 << 20


def nearly_full(setting: Setting) -> None:
    """The largest batch that fits, without free memory next to it."""
    length, vocabulary = setting.size(1024, 16), setting.size(8192, 64)
    model = transformer(
        setting,
        width=2048,
        depth=setting.size(12, 1),
        length=length,
        vocabulary=vocabulary,
    )
    work = work_of(setting, model, next_tokens, fused=setting.on_gpu)

    def batch_of(size: int) -> Batch:
        return token_batch(setting, size, length, vocabulary)

    size = 2
    if setting.on_gpu:
        room = setting.total_bytes()
        size = largest_batch(setting, work, batch_of, wanted=int(0.95 * room))
    batch = batch_of(size)
    setting.tell(f"batches of {size}")
    free_memory(setting)
    train(setting, work, Repeated([batch] * 2, steps=ENDLESS))


def largest_batch(
    setting: Setting, work: Work, batch_of: Callable[[int], Batch], *, wanted: int
) -> int:
    """Return the batch size whose step needs this number of bytes, by measurement."""
    few, more = 2, 4
    smaller = peak_bytes(setting, work, batch_of(few))
    of_each = (peak_bytes(setting, work, batch_of(more)) - smaller) / (more - few)
    size = few + int((wanted - smaller) / of_each)
    while True:
        try:
            found = peak_bytes(setting, work, batch_of(size))
        except torch.OutOfMemoryError:
            pass
        else:
            setting.tell(f"{found / MIB:,.0f} of {wanted / MIB:,.0f} MiB wanted")
            return size
        # Outside of `except`: the error holds the step's tensors.
        work.optimizer.zero_grad(set_to_none=True)
        size = min(size - 1, int(0.97 * size))


def device_leak(setting: Setting) -> None:
    """The card is full at 80 % of the time."""
    leak(setting, fills=1.25)


def slow_device_leak(setting: Setting) -> None:
    """The same, and more than a third of the card is still free at the end."""
    leak(setting, fills=0.6)


def leak(setting: Setting, *, fills: float) -> None:
    """Keep outputs for a final metric, of as many steps as fill this share of memory."""
    length, vocabulary = setting.size(512, 16), setting.size(32_768, 64)
    model = transformer(
        setting,
        width=768,
        depth=setting.size(8, 1),
        length=length,
        vocabulary=vocabulary,
    )
    kept: list[Tensor] = []
    every, steps = ENDLESS, 0

    def loss_of(model: nn.Module, tokens: Tensor, targets: Tensor) -> Tensor:
        nonlocal steps
        scores = model(tokens)
        steps += 1
        if steps % every == 0:
            kept.append(scores)
        return nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())

    work = work_of(setting, model, loss_of, fused=setting.on_gpu)
    batch = token_batch(setting, 8, length, vocabulary)
    timing = timed(work, batch)
    if setting.on_gpu:
        scores_bytes = 2 * 8 * length * vocabulary
        room = setting.total_bytes() - peak_bytes(setting, work, batch)
        kept_steps = fills * room / scores_bytes
        every = max(1, round(setting.seconds / timing.step / kept_steps))
    else:
        every = 10
    setting.tell(f"{timing}; outputs of each {every}. step are kept")
    free_memory(setting)
    train(setting, work, Repeated([batch] * 8, steps=ENDLESS))


def fragmentation(setting: Setting) -> None:
    """Image sizes that grow, so that freed blocks are too small for later ones."""
    width, depth = setting.size(64, 8), setting.size(24, 1)
    model = Convolutions(width=width, depth=depth, patch=2).to(
        setting.device, memory_format=torch.channels_last
    )
    work = work_of(setting, model, classes)
    sizes = [int(size) // 2 * 2 for size in np.geomspace(96, 512, 24)]
    if not setting.on_gpu:
        sizes = [8, 12, 16]

    def batches_of(batch_size: int) -> list[Batch]:
        return [
            (
                torch.randint(0, 255, (batch_size, 3, size, size), dtype=torch.uint8),
                torch.randint(0, 10, (batch_size,)),
            )
            for size in sizes
        ]

    batch_size = 2
    if setting.on_gpu:
        batch_size = size_in_pieces(setting, work, batches_of)
    batches = batches_of(batch_size)
    if setting.on_gpu:
        batches = [(images.pin_memory(), labels) for images, labels in batches]
    free_memory(setting)
    train(setting, work, Repeated(batches, steps=ENDLESS))


def size_in_pieces(
    setting: Setting, work: Work, batches_of: Callable[[int], list[Batch]]
) -> int:
    """Return a batch size at which the allocator's memory ends up fragmented.

    If the allocator frees all cached blocks at the largest size, it starts again
    without fragmentation, so each size is tried.
    """
    largest = batches_of(2)[-1]
    of_each = peak_bytes(setting, work, largest) / 2
    total = setting.total_bytes()
    found = 2
    for share in (0.36, 0.25, 0.33, 0.30, 0.40):
        size = max(2, int(share * total / of_each))
        free_memory(setting)
        began = time.perf_counter()
        # A settled allocator allocates nothing new in the second round.
        for batch in batches_of(size) * 2:
            work.step(unseen, batch)
        torch.cuda.synchronize()
        stats = torch.cuda.memory_stats()
        held = stats["reserved_bytes.all.current"]
        peak = stats["allocated_bytes.all.peak"]
        retries = stats["num_alloc_retries"]
        setting.tell(
            f"batches of {size}: {held / peak:.2f} times the peak of"
            f" {peak / total:.0%} held, given back {retries} times,"
            f" {time.perf_counter() - began:.1f} s"
        )
        if retries and held > 1.7 * peak:
            return size
        if retries and held > peak:
            found = size
    return found


def out_of_memory(setting: Setting) -> None:
    """One sequence in some hundred is long, and the batch is padded to it."""
    usual, vocabulary = setting.size(512, 8), setting.size(8192, 64)
    longest = 16 * usual
    model = transformer(
        setting,
        width=1024,
        depth=setting.size(12, 1),
        length=longest,
        vocabulary=vocabulary,
    )
    work = work_of(setting, model, next_tokens, fused=setting.on_gpu)
    size = 2
    if setting.on_gpu:
        few = peak_bytes(setting, work, token_batch(setting, 2, usual, vocabulary))
        more = peak_bytes(setting, work, token_batch(setting, 6, usual, vocabulary))
        # The usual ones take a sixth of the card, so that the long ones do not fit.
        size = 2 + int((setting.total_bytes() / 6 - few) / ((more - few) / 4))
    batch = token_batch(setting, size, usual, vocabulary)
    timing = timed(work, batch)
    # Enough steps for the time, also if the agent slows them down.
    steps = max(10, int(setting.seconds / timing.step / 2)) if setting.on_gpu else 60
    setting.tell(f"batches of {size}, {timing}; the {steps}. does not fit")
    long = token_batch(setting, size, longest, vocabulary)
    free_memory(setting)
    train(setting, work, Repeated([batch] * (steps - 1) + [long], steps=ENDLESS))
