"""PyTorch: logs facts about a model and its optimizer.

    from seamark.frameworks.torch import describe

    describe(run, model=model, optimizer=optimizer)
    for inputs, labels in run.loader(loader):
        ...

Settings, loader, GPU phases and allocator are captured without a call: see
docs/how-to/train-with-pytorch.md.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import Any

import torch

from seamark.frameworks.torch_loop import TorchLoop, type_name
from seamark.run import Run

logger = logging.getLogger(__name__)

DDP = "DistributedDataParallel"
_DDP_OPTIONS = {
    "ddp_bucket_bytes": "bucket_bytes_cap",
    "ddp_static_graph": "static_graph",
    "ddp_find_unused_parameters": "find_unused_parameters",
    "ddp_gradient_as_bucket_view": "gradient_as_bucket_view",
}
_INNER_BACKEND = "_torchdynamo_orig_backend"
# Attribute in which Lightning keeps the context of torch.compile.
_LIGHTNINGS = "_compiler_ctx"
# Wrappers with the model in `module`; FSDP2 is a base class instead.
_WRAPPERS = (
    DDP,
    "DataParallel",
    "FullyShardedDataParallel",
    "DeepSpeedEngine",
)


def describe(
    run: Run,
    *,
    model: torch.nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    scaler: torch.amp.GradScaler | None = None,
    flops_per_example: float | None = None,
) -> None:
    """Log sizes, types, wrappers and settings of a training setup.

    Call it before the loop, with all objects ready. It never raises.

    Args:
        run: The run to log to.
        model: The model as trained, including compilation and DDP or FSDP wrappers.
        optimizer: The model's optimizer.
        scaler: The gradient scaler, if float16 autocast uses one.
        flops_per_example: Floating-point operations of the forward and backward pass
            per example; a multiply-add counts as two. For a transformer about
            6 · parameters · tokens.
    """
    try:
        facts = TorchLoop().facts()
        if model is not None:
            facts |= {f"model/{k}": v for k, v in model_facts(model).items()}
        if optimizer is not None:
            settings = optimizer_facts(optimizer)
            facts |= {f"optimizer/{k}": v for k, v in settings.items()}
        if scaler is not None:
            facts |= {f"grad_scaler/{k}": v for k, v in scaler_facts(scaler).items()}
        if flops_per_example is not None:
            facts["model/flops_per_example"] = float(flops_per_example)
    except Exception:
        # The model may be any object, in any state.
        logger.debug("the model cannot be described", exc_info=True)
        return
    run.steps.state_facts(facts)


def model_facts(model: torch.nn.Module) -> dict[str, object]:
    """Return facts about a model without running it."""
    inner, wrapper, is_compiled = _unwrapped(model)
    compiling, spreading = _compile_facts(model), _ddp_facts(model)
    parameters = list(inner.parameters())
    facts: dict[str, object] = {
        "class": type(inner).__name__,
        "compiled": is_compiled,
        "types": {type_name(p.dtype) for p in parameters},
        "devices": {str(p.device) for p in parameters},
        **compiling,
        **spreading,
    }
    if wrapper is not None:
        facts["wrapper"] = wrapper
    # Lazy parameters have a size only after the first batch.
    if not any(torch.nn.parameter.is_lazy(p) for p in parameters):
        facts["parameters"] = sum(p.numel() for p in parameters)
        facts["trainable_parameters"] = sum(
            p.numel() for p in parameters if p.requires_grad
        )
        facts["parameter_bytes"] = sum(p.numel() * p.element_size() for p in parameters)
    return facts


def is_spread(model: torch.nn.Module) -> bool:
    """Return whether the parameters are sharded over processes, as DTensors."""
    return any(type(p).__name__ == "DTensor" for p in model.parameters())


def scaler_facts(scaler: Any) -> dict[str, object]:
    """Return the settings of a gradient scaler; reading its scale would synchronize."""
    facts: dict[str, object] = {"enabled": bool(scaler.is_enabled())}
    if facts["enabled"]:
        facts["growth_interval"] = int(scaler.get_growth_interval())
        facts["growth_factor"] = float(scaler.get_growth_factor())
        facts["backoff_factor"] = float(scaler.get_backoff_factor())
    return facts


def optimizer_facts(optimizer: Any) -> dict[str, object]:
    """Return the class of an optimizer, and its `fused` and `foreach` options."""
    # Accelerate and other libraries wrap the actual optimizer.
    optimizer = getattr(optimizer, "optimizer", optimizer)
    facts: dict[str, object] = {"class": type(optimizer).__name__}
    for option in ("fused", "foreach"):
        chosen = getattr(optimizer, "defaults", {}).get(option)
        if chosen is not None:
            facts[option] = bool(chosen)
    return facts


def _wrappers(model: Any) -> Iterator[Any]:
    """Yield the model and the modules inside its wrappers, from outside to inside."""
    while True:
        yield model
        name = type(model).__name__
        if name == "OptimizedModule":
            model = model._orig_mod  # noqa: SLF001 - torch.compile's
        elif name in _WRAPPERS:
            model = model.module
        else:
            return


def _ddp_facts(model: Any) -> dict[str, object]:
    """Return the options of DistributedDataParallel that it keeps as attributes."""
    for part in _wrappers(model):
        if type(part).__name__ == DDP:
            found = {n: getattr(part, kept, None) for n, kept in _DDP_OPTIONS.items()}
            return {name: value for name, value in found.items() if value is not None}
    return {}


def _compile_facts(model: Any) -> dict[str, object]:
    """Return the options of torch.compile; {} if it does not keep them."""
    for part in _wrappers(model):
        backend = getattr(_compilation(part), "callback", None)
        # Each wrapper of a backend refers to the inner one.
        while (inner := getattr(backend, _INNER_BACKEND, None)) is not None:
            backend = inner
        if backend is None:
            continue
        name = getattr(backend, "compiler_name", None) or getattr(
            backend, "__name__", type(backend).__name__
        )
        facts: dict[str, object] = {"compile_backend": str(name)}
        dynamic, options = (
            getattr(backend, "dynamic", None),
            getattr(backend, "config", None),
        )
        if isinstance(dynamic, bool):
            facts["compile_dynamic"] = dynamic
        if isinstance(options, dict):
            facts["compile_mode"] = _mode_of(options)
        return facts
    return {}


def _compilation(part: Any) -> Any:
    """Return the torch.compile context of a module, if any."""
    kept = getattr(part, _LIGHTNINGS, None)
    inner = kept.get("dynamo_ctx") if isinstance(kept, dict) else None
    return getattr(part, "dynamo_ctx", inner)


def _mode_of(options: dict[str, object]) -> str:
    """Return the mode with these options; PyTorch stores only the options."""
    if not options:
        return "default"
    # torch._inductor is imported if there are options: it has validated them.
    known: dict[str, dict[str, object]] = getattr(
        sys.modules.get("torch._inductor"), "list_mode_options", dict
    )()
    plain = {
        mode: {option.replace("-", "_"): value for option, value in its.items()}
        for mode, its in known.items()
    }
    return next((mode for mode, its in plain.items() if its == options), "custom")


def _unwrapped(model: torch.nn.Module) -> tuple[torch.nn.Module, str | None, bool]:
    """Return the inner model, its distribution wrapper, and whether it is compiled."""
    wrapper, is_compiled = None, False
    while True:
        name = type(model).__name__
        is_compiled |= getattr(model, "_compiled_call_impl", None) is not None
        is_compiled |= getattr(model, _LIGHTNINGS, None) is not None
        if name == "OptimizedModule":
            model, is_compiled = model._orig_mod, True  # noqa: SLF001 - torch.compile's
        elif name in _WRAPPERS:
            model, wrapper = model.module, name
        else:
            break
    if any(base.__name__ == "FSDPModule" for base in type(model).__mro__):
        wrapper = "FSDPModule"
    return model, wrapper, is_compiled
