"""Lines of code for recommendations about data loading, by framework."""

from __future__ import annotations


def prefetch_line(framework: str | None, workers: int, batches: int) -> str:
    """Increase the prefetch queue; `batches` is per worker."""
    match framework:
        case "pytorch":
            return (
                f"DataLoader(dataset, num_workers={max(1, workers)},"
                f" prefetch_factor={batches})"
            )
        case "tensorflow":
            return "dataset.prefetch(tf.data.AUTOTUNE)"
        case "jax":
            return (
                f"grain.DataLoader(data_source=source, worker_count={max(1, workers)},"
                f" worker_buffer_size={batches})"
            )
        case _:
            return f"queue.Queue(maxsize={max(1, workers) * batches})"


def lasting_workers_line(framework: str | None, workers: int) -> str:
    """Start the workers once instead of for each epoch."""
    match framework:
        case "pytorch":
            return (
                f"DataLoader(dataset, num_workers={max(1, workers)},"
                " persistent_workers=True)"
            )
        case "tensorflow":
            return "dataset.repeat(epochs).prefetch(tf.data.AUTOTUNE)"
        case "jax":
            return "grain.samplers.IndexSampler(num_records=count, num_epochs=epochs)"
        case _:
            return (
                f"pool = multiprocessing.Pool({max(1, workers)})  # before all epochs"
            )


def shards_line(framework: str | None) -> str:
    """Read a few large files sequentially."""
    match framework:
        case "pytorch":
            return 'webdataset.WebDataset("train-{0000..0099}.tar", shardshuffle=True)'
        case "tensorflow":
            return (
                "tf.data.TFRecordDataset(shards, num_parallel_reads=tf.data.AUTOTUNE)"
            )
        case "jax":
            return "grain.sources.ArrayRecordDataSource(shards)"
        case _:
            return 'numpy.load("shard.npy", mmap_mode="r")'


def local_copy_line(framework: str | None) -> str:
    """Keep a copy of the data on a local disk."""
    if framework == "tensorflow":
        return 'dataset.cache("/local/cache")'
    return "rsync -a /remote/data/ /local/data/"


def in_memory_line(framework: str | None) -> str:
    """Keep the data in memory."""
    if framework == "tensorflow":
        return "dataset.cache()"
    if framework == "ultralytics":
        return 'model.train(data=..., cache="ram")'
    return "cp -r /path/to/data /dev/shm/"


def one_thread_line(framework: str | None, cores: int) -> str:
    """Limit the threads to the number of cores."""
    if framework == "tensorflow":
        return f"tf.config.threading.set_intra_op_parallelism_threads({max(1, cores)})"
    return "OMP_NUM_THREADS=1 python train.py"


def copy_line(framework: str | None) -> str:
    """Copy from pinned memory while the GPU works."""
    match framework:
        case "pytorch":
            return (
                "DataLoader(dataset, pin_memory=True);"
                ' batch.to("cuda", non_blocking=True)'
            )
        case "tensorflow":
            return 'dataset.apply(tf.data.experimental.prefetch_to_device("/gpu:0"))'
        case "jax":
            return "ready = jax.device_put(next(batches))  # before the step is awaited"
        case _:
            return ""


def gpu_decoder_line(framework: str | None) -> str:
    """Decode images on the GPU."""
    if framework == "pytorch":
        return 'torchvision.io.decode_jpeg(encoded, device="cuda")'
    return 'nvidia.dali.fn.decoders.image(encoded, device="mixed")'
