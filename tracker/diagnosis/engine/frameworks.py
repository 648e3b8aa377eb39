"""Lines of code for recommendations, by framework."""

from __future__ import annotations

# Frameworks that reserve most of the GPU's memory at start, so that the driver's value
# does not show the need.
RESERVING = ("tensorflow", "jax")
# Ultralytics has its own loop around PyTorch; users set only the arguments of `train`.
ON_PYTORCH = ("pytorch", "ultralytics")


def loader_workers_line(framework: str | None, workers: int) -> str:
    match framework:
        case "pytorch":
            return (
                f"DataLoader(dataset, num_workers={workers}, persistent_workers=True)"
            )
        case "tensorflow":
            return (
                "dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)"
                ".prefetch(tf.data.AUTOTUNE)"
            )
        case "jax":
            return f"grain.DataLoader(data_source=source, worker_count={workers})"
        case "ultralytics":
            return f"model.train(data=..., workers={workers})"
        case _:
            return f"multiprocessing.Pool({workers}).imap(load_batch, batches)"


def batch_size_line(framework: str | None, batch_size: str) -> str:
    match framework:
        case "pytorch":
            return f"DataLoader(dataset, batch_size={batch_size})"
        case "tensorflow":
            return f"dataset.batch({batch_size})"
        case "jax":
            return f"grain.Batch(batch_size={batch_size})"
        case "ultralytics":
            return f"model.train(data=..., batch={batch_size})"
        case _:
            return f"batch_size = {batch_size}"


def memory_line(framework: str | None) -> str:
    match framework:
        case "pytorch":
            return 'with torch.autocast("cuda", dtype=torch.bfloat16):'
        case "tensorflow":
            return 'keras.mixed_precision.set_global_policy("mixed_bfloat16")'
        case "jax":
            return "jax.checkpoint(loss)"
        case "ultralytics":
            return "model.train(data=..., amp=True)"
        case _:
            return ""


def data_parallel_line(framework: str | None, gpus: int) -> str:
    match framework:
        case "pytorch":
            return f"torchrun --nproc-per-node={gpus} train.py"
        case "tensorflow":
            return "with tf.distribute.MirroredStrategy().scope():"
        case "jax":
            return f'jax.make_mesh(({gpus},), ("data",))'
        case "ultralytics":
            return f"model.train(data=..., device={[*range(gpus)]})"
        case _:
            return ""


def mixed_precision_line(framework: str | None, half: str) -> str:
    """`half` is bfloat16 or float16."""
    match framework:
        case "pytorch":
            return f'with torch.autocast("cuda", dtype=torch.{half}):'
        case "tensorflow":
            return f'keras.mixed_precision.set_global_policy("mixed_{half}")'
        case "jax":
            return f"model = Model(dtype=jnp.{half}, param_dtype=jnp.float32)"
        case "ultralytics":
            return "model.train(data=..., amp=True)"
        case _:
            return ""


def compile_line(framework: str | None) -> str:
    match framework:
        case "pytorch":
            return 'model = torch.compile(model, mode="reduce-overhead")'
        case "tensorflow":
            return "model.compile(optimizer, loss, jit_compile=True)"
        case "jax":
            return "train_step = jax.jit(train_step, donate_argnums=0)"
        case "ultralytics":
            return "model.train(data=..., compile=True)"
        case _:
            return ""


def fused_optimizer_line(framework: str | None) -> str:
    if framework == "pytorch":
        return "torch.optim.AdamW(model.parameters(), fused=True)"
    return ""


def no_gradients_line(framework: str | None) -> str:
    return "with torch.inference_mode():" if framework == "pytorch" else ""


def phase_line(name: str) -> str:
    return f'with run.phase("{name}"):'
