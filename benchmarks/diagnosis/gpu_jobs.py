"""What the GPU jobs do: one function for each case, with the case's name.

Sizes follow from how fast the card is: see `fitted`.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier, Event
from random import Random

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

import agent
from agent.frameworks.torch import describe
from benchmarks.diagnosis.gpu_data import (
    Batch,
    Images,
    Repeated,
    Texts,
    Tokens,
    loader_of,
)
from benchmarks.diagnosis.gpu_models import (
    Classifier,
    Convolutions,
    Recurrent,
    Transformer,
    classes,
    next_tokens,
)
from benchmarks.diagnosis.gpu_training import (
    PROJECT,
    Phase,
    Setting,
    Work,
    fitted,
    free_memory,
    peak_bytes,
    timed,
    train,
    unseen,
)

MIB = 1 << 20
# More than any of these jobs has steps in an epoch.
ENDLESS = 1_000_000


def job_of(name: str) -> Callable[[Setting], None]:
    """Return the function of a case; those without a fault have no `healthy-`."""
    found: Callable[[Setting], None] = globals()[
        name.removeprefix("healthy-").replace("-", "_")
    ]
    return found


# What several jobs are made of.


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


# Faults.


def tiny_batch(setting: Setting) -> None:
    """Batches of 4 small images: most of the card has nothing to do."""
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
    """Nobody asked for 16 bits, nor for TF32."""
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
    """Batches as the script has them in memory; nothing pins them."""
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


def nearly_full(setting: Setting) -> None:
    """The largest batch that somebody found by trying, and no room beside it."""
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
    """Return the batch size whose step takes so many bytes; it was tried."""
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
    """Keep outputs for a metric at the end: of as many steps as fill so much."""
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
    """Sizes that grow: what held the smaller images fits none of the larger."""
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
    """Return a batch size with which the allocator ends up with the wrong pieces.

    Where it gives all of them back at the largest size, it starts afresh and ends up
    with the right ones: whether it does is tried.
    """
    largest = batches_of(2)[-1]
    of_each = peak_bytes(setting, work, largest) / 2
    total = setting.total_bytes()
    found = 2
    for share in (0.36, 0.25, 0.33, 0.30, 0.40):
        size = max(2, int(share * total / of_each))
        free_memory(setting)
        began = time.perf_counter()
        # In the second round nothing new is asked for, if it has settled.
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
    # Before the loop is over, whatever a step takes with the agent.
    steps = max(10, int(setting.seconds / timing.step / 2)) if setting.on_gpu else 60
    setting.tell(f"batches of {size}, {timing}; the {steps}. does not fit")
    long = token_batch(setting, size, longest, vocabulary)
    free_memory(setting)
    train(setting, work, Repeated([batch] * (steps - 1) + [long], steps=ENDLESS))


def copies_of_a_model(setting: Setting) -> None:
    """Four processes serve, as four workers of a web server; this one is the first."""
    context = multiprocessing.get_context("spawn")
    processes = setting.size(4, 2)
    ready, over = context.Barrier(processes), context.Event()
    others = [
        context.Process(target=serve_beside, args=(setting, ready, over))
        for _ in range(processes - 1)
    ]
    for other in others:
        other.start()
    try:
        answer, model = service(setting)
        ready.wait(60)
        with agent.init(
            setting.name, project=PROJECT, stage="serve", capture=False
        ) as run:
            describe(run, model=model)
            for pause in pauses(setting, 0):
                time.sleep(pause)
                with run.phase("request"):
                    answer()
    finally:
        over.set()
        for other in others:
            other.join(5)
            other.kill()


def serve_beside(setting: Setting, ready: Barrier, over: Event) -> None:
    """What the other processes do: the same, and they log nothing."""
    answer, _ = service(setting)
    ready.wait(60)
    # More than there is time for: it goes on until the first one ends it.
    for pause in 3 * pauses(setting, multiprocessing.current_process().pid or 1):
        if over.is_set():
            return
        time.sleep(pause)
        answer()


def pauses(setting: Setting, seed: int) -> list[float]:
    """Return the times between requests, about as many as the loop takes."""
    random = Random(seed)
    return [random.expovariate(1 / 0.02) for _ in range(int(setting.seconds / 0.03))]


def service(setting: Setting) -> tuple[Callable[[], None], nn.Module]:
    """Return what answers a request, and its model of about a gigabyte."""
    length, vocabulary = setting.size(512, 8), setting.size(16_384, 64)
    model = transformer(
        setting,
        width=1536,
        depth=setting.size(16, 1),
        length=length,
        vocabulary=vocabulary,
    )
    model = model.to(setting.device, torch.bfloat16).eval()
    tokens, _ = token_batch(setting, setting.size(8, 1), length, vocabulary)

    def answer() -> None:
        with torch.inference_mode():
            model(tokens).argmax(-1).cpu()

    for _ in range(3):
        answer()
    return answer, model


def cpu_stage(setting: Setting) -> None:
    """Images are resized and normalised by three processes; no GPU has work."""
    processes = setting.size(3, 1)
    until = time.monotonic() + setting.seconds
    with (
        multiprocessing.get_context("fork").Pool(processes) as pool,
        agent.init(
            setting.name, project=PROJECT, stage="preprocess", capture=False
        ) as run,
    ):
        done = 0
        while time.monotonic() < until:
            done += sum(pool.map(prepare_images, range(3 * processes)))
            run["preprocess/images"].append(done)


def prepare_images(seed: int, images: int = 8) -> int:
    """Shrink large images to a third and normalise them; return how many."""
    numbers = np.random.default_rng(seed)
    for _ in range(images):
        image = numbers.integers(0, 255, (768, 768, 3), dtype=np.uint8)
        small = image.reshape(256, 3, 256, 3, 3).mean(axis=(1, 3), dtype=np.float32)
        small -= small.mean(axis=(0, 1))
        small /= small.std(axis=(0, 1)) + 1e-6
    return images


def idle_with_memory(setting: Setting) -> None:
    """Some cells of a notebook have run, and nobody has ended its kernel."""
    length, vocabulary = setting.size(512, 16), setting.size(8192, 64)
    model = transformer(
        setting,
        width=1024,
        depth=setting.size(12, 1),
        length=length,
        vocabulary=vocabulary,
    )
    work = work_of(setting, model, next_tokens)
    batch = token_batch(setting, 8, length, vocabulary)
    with agent.init(
        setting.name, project=PROJECT, stage="notebook", capture=False
    ) as run:
        describe(run, model=work.model, optimizer=work.optimizer)
        for _ in range(setting.size(60, 2)):
            work.step(unseen, batch)
        time.sleep(setting.seconds)


# Without a fault.


def gpu_large_model(setting: Setting) -> None:
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


def gpu_convolutions(setting: Setting) -> None:
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


def gpu_fine_tuning(setting: Setting) -> None:
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


def gpu_checkpoints(setting: Setting) -> None:
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
