"""Jobs with slower steps than necessary."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from evaluation.synthetic.gpu.data import Batch, Images, Repeated, Tokens, loader_of
from evaluation.synthetic.gpu.jobs.making import (
    ENDLESS,
    token_batch,
    transformer,
    work_of,
)
from evaluation.synthetic.gpu.models import (
    Convolutions,
    Recurrent,
    classes,
    next_tokens,
)
from evaluation.synthetic.gpu.training import (
    Phase,
    Setting,
    Work,
    fitted,
    free_memory,
    timed,
    train,
)


def tiny_batch(setting: Setting) -> None:
    """Batches of 4 small images, which leave most of the GPU idle."""
    size = setting.size(96, 16)
    model = Convolutions(
        width=setting.size(128, 8), depth=setting.size(12, 1), patch=4
    ).to(setting.device, memory_format=torch.channels_last)
    work = work_of(setting, model, classes)
    examples = Images(setting.size(2048, 64), size)
    batch = next(iter(loader_of(examples, 4, workers=0, on_gpu=False)))
    setting.tell(str(timed(work, batch)))
    free_memory(setting)
    loader = loader_of(examples, 4, workers=2, on_gpu=setting.on_gpu)
    train(setting, work, loader)


def small_kernels(setting: Setting) -> None:
    """A recurrent net with a scaler for float16, over long series on the GPU."""

    def make(length: int) -> tuple[Work, Batch]:
        model = Recurrent(inputs=64, width=setting.size(256, 16), layers=2)
        work = work_of(setting, model, classes, autocast=torch.float16)
        if setting.on_gpu:
            work.scaler = torch.amp.GradScaler("cuda")
        else:
            work.autocast = None  # the CPU has no recurrent nets in 16 bits
        batch = (
            torch.randn(32, length, 64, device=setting.device),
            torch.randint(0, 10, (32,), device=setting.device),
        )
        return work, batch

    work, batch = fitted(setting, make, seconds=0.05, sizes=(64, 128), most=4096)
    train(setting, work, Repeated([batch] * 8, steps=ENDLESS))


def float32(setting: Setting) -> None:
    """Float32 without TF32 and without mixed precision."""
    length, vocabulary = setting.size(512, 16), setting.size(8192, 64)
    batch_size = setting.size(8, 2)

    def make(depth: int) -> tuple[Work, Batch]:
        model = transformer(
            setting, width=1024, depth=depth, length=length, vocabulary=vocabulary
        )
        work = work_of(setting, model, next_tokens, autocast=None)
        return work, token_batch(setting, batch_size, length, vocabulary)

    work, _ = fitted(setting, make, seconds=0.07, sizes=(1, 2), most=48)
    examples = Tokens(setting.size(4096, 32), length, vocabulary)
    train(
        setting,
        work,
        loader_of(examples, batch_size, workers=2, on_gpu=setting.on_gpu),
    )


def eager_overhead(setting: Setting) -> None:
    """Many small operations, and an update of a dozen for each parameter."""
    length, vocabulary = setting.size(64, 8), setting.size(512, 64)

    def make(depth: int) -> tuple[Work, Batch]:
        model = transformer(
            setting, width=128, depth=depth, length=length, vocabulary=vocabulary
        )
        work = work_of(setting, model, next_tokens, foreach=False)
        return work, token_batch(setting, 8, length, vocabulary)

    work, batch = fitted(setting, make, seconds=0.05, sizes=(2, 4), most=48)
    train(setting, work, Repeated([batch] * 8, steps=ENDLESS))


def item_each_step(setting: Setting) -> None:
    """Numbers for a dashboard: each `.item()` waits for the GPU, which then idles."""
    length, vocabulary = setting.size(512, 16), setting.size(8192, 64)
    depth = setting.size(12, 1)

    def make(batch_size: int) -> tuple[Work, Batch]:
        model = transformer(
            setting, width=768, depth=depth, length=length, vocabulary=vocabulary
        )
        work = work_of(setting, model, next_tokens, fused=setting.on_gpu)

        def fetch(phase: Phase, loss: Tensor) -> None:
            with phase("log"):
                numbers = {"loss": loss.item()}
                for name, parameter in model.named_parameters():
                    if parameter.grad is not None:
                        numbers[name] = parameter.grad.norm().item()

        work.before_update = fetch
        return work, token_batch(setting, batch_size, length, vocabulary)

    work, batch = fitted(setting, make, seconds=0.035, sizes=(16, 32), most=128)
    train(setting, work, Repeated([batch] * 8, steps=ENDLESS))


def pageable_copies(setting: Setting) -> None:
    """Batches in pageable memory, without pinning."""
    batch_size, size = setting.size(256, 4), setting.size(224, 16)

    def make(depth: int) -> tuple[Work, Batch]:
        model = Convolutions(width=setting.size(384, 8), depth=depth, patch=8).to(
            setting.device, memory_format=torch.channels_last
        )
        batch = (
            torch.rand(batch_size, 3, size, size, device=setting.device),
            torch.randint(0, 10, (batch_size,), device=setting.device),
        )
        return work_of(setting, model, classes), batch

    work, _ = fitted(setting, make, seconds=0.05, sizes=(1, 2), most=32)
    batches = [
        (
            torch.rand(batch_size, 3, size, size),
            torch.randint(0, 10, (batch_size,)),
        )
        for _ in range(4)
    ]
    # A loader that takes whole batches as they are, again and again.
    examples: list[Batch] = batches * 25
    loader = DataLoader(examples, batch_size=None, shuffle=True, pin_memory=False)
    train(setting, work, loader)
