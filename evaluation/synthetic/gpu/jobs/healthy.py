"""Jobs without a fault."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import agent
from evaluation.synthetic.gpu.data import Batch, Images, Texts, Tokens, loader_of
from evaluation.synthetic.gpu.jobs.making import token_batch, transformer, work_of
from evaluation.synthetic.gpu.models import (
    Classifier,
    Convolutions,
    classes,
    next_tokens,
)
from evaluation.synthetic.gpu.training import Phase, Setting, Work, fitted, train


def large_model(setting: Setting) -> None:
    """Matrix products that fill the card, and a fused optimizer."""
    length, vocabulary = setting.size(1024, 16), setting.size(16_384, 64)
    batch_size = setting.size(8, 2)

    def make(depth: int) -> tuple[Work, Batch]:
        model = transformer(
            setting, width=2048, depth=depth, length=length, vocabulary=vocabulary
        )
        work = work_of(setting, model, next_tokens, fused=setting.on_gpu)
        return work, token_batch(setting, batch_size, length, vocabulary)

    work, _ = fitted(setting, make, seconds=0.09, sizes=(2, 4), most=32)
    examples = Tokens(setting.size(4096, 32), length, vocabulary)
    train(
        setting,
        work,
        loader_of(examples, batch_size, workers=2, on_gpu=setting.on_gpu),
    )


def convolutions(setting: Setting) -> None:
    """Wide convolutions with channels last; 8-bit images, made floats on the GPU."""
    batch_size, size = setting.size(192, 4), setting.size(128, 16)
    examples = Images(setting.size(4096, 32), size)

    def make(depth: int) -> tuple[Work, Batch]:
        model = Convolutions(width=setting.size(512, 8), depth=depth, patch=4).to(
            setting.device, memory_format=torch.channels_last
        )
        batch = next(iter(loader_of(examples, batch_size, workers=0, on_gpu=False)))
        return work_of(setting, model, classes), tuple(batch)

    work, _ = fitted(setting, make, seconds=0.09, sizes=(1, 3), most=24)
    train(
        setting,
        work,
        loader_of(examples, batch_size, workers=3, on_gpu=setting.on_gpu),
    )


def classifier_of(
    setting: Setting, *, width: int, depth: int, length: int, vocabulary: int
) -> Work:
    """Return a model for labels of texts, and its training."""
    model = Classifier(
        vocabulary=vocabulary,
        width=setting.size(width, 32),
        depth=setting.size(depth, 1),
        heads=max(1, setting.size(width, 32) // 64),
        longest=length,
        outputs=2,
    )
    work = work_of(setting, model, classes, fused=setting.on_gpu)

    def clip(_: Phase, __: Tensor) -> None:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)

    work.before_update = clip
    return work


def fine_tuning(setting: Setting) -> None:
    """Labels of texts, gradients clipped, two workers."""
    length, vocabulary = setting.size(256, 16), setting.size(30_000, 64)
    examples = Texts(setting.size(16_384, 64), length, vocabulary)

    def make(batch_size: int) -> tuple[Work, Batch]:
        work = classifier_of(
            setting, width=768, depth=12, length=length, vocabulary=vocabulary
        )
        loader = loader_of(examples, batch_size, workers=0, on_gpu=False)
        return work, tuple(next(iter(loader)))

    work, batch = fitted(setting, make, seconds=0.08, sizes=(64, 128), most=512)
    loader = loader_of(examples, len(batch[0]), workers=2, on_gpu=setting.on_gpu)
    train(setting, work, loader)


def checkpoints(setting: Setting) -> None:
    """Epochs of some seconds, each with a short evaluation; a checkpoint each second one."""
    length, vocabulary = setting.size(256, 16), setting.size(8192, 64)
    some = Texts(setting.size(1024, 64), length, vocabulary)

    def make(batch_size: int) -> tuple[Work, Batch]:
        work = classifier_of(
            setting, width=512, depth=6, length=length, vocabulary=vocabulary
        )
        loader = loader_of(some, batch_size, workers=0, on_gpu=False)
        return work, tuple(next(iter(loader)))

    work, batch = fitted(setting, make, seconds=0.06, sizes=(128, 256), most=1024)
    batch_size = len(batch[0])
    steps, evaluated = setting.size(60, 4), setting.size(12, 1)
    examples = Texts(steps * batch_size, length, vocabulary)
    held_out = [tuple(part.to(setting.device) for part in batch)] * evaluated

    def between(run: agent.Run, epoch: int) -> None:
        with run.phase("evaluate"):
            work.model.eval()
            with (
                torch.inference_mode(),
                torch.autocast(setting.device.type, dtype=torch.bfloat16),
            ):
                losses = [classes(work.model, *each) for each in held_out]
            run["validation/loss"].append(torch.stack(losses).mean().item())
            work.model.train()
        if epoch % 2 == 0:
            with run.phase("checkpoint"):
                torch.save(work.model.state_dict(), setting.folder / "model.pt")

    loader = loader_of(examples, batch_size, workers=2, on_gpu=setting.on_gpu)
    train(setting, work, loader, between)
