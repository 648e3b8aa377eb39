"""Replaces a PyTorch with GPUs, for the functions that the agent calls."""

from __future__ import annotations

from functools import partial
from types import ModuleType, SimpleNamespace


class TorchDouble(ModuleType):
    def __init__(self, cuda, **more):
        super().__init__("torch")
        # Attributes that the agent's modules read on import.
        self.are_deterministic_algorithms_enabled = self.get_num_threads = int
        self.get_float32_matmul_precision = str
        self.distributed = SimpleNamespace(is_available=lambda: False)
        self.is_autocast_enabled = lambda device: False
        self.cuda = cuda
        vars(self).update(more)


class CudaDouble:
    """GPUs that are done at once; `allocated` are the bytes of tensors on each."""

    def __init__(self, allocated, *, current=0):
        self.allocated = allocated
        self.reserved = dict(allocated)
        self.current = current
        # On which GPU each of these was done.
        self.recorded, self.synchronized, self.forgotten = [], [], []
        self.milliseconds = dict.fromkeys(allocated, 0.0)
        self.Event = partial(EventDouble, self)

    def is_initialized(self):
        return True

    def device_count(self):
        return len(self.allocated)

    def current_device(self):
        return self.current

    def is_current_stream_capturing(self):
        return False

    def current_stream(self, device=None):
        return StreamDouble(self, self._chosen(device))

    def memory_stats_as_nested_dict(self, device):
        return {
            "allocated_bytes": {"all": {"current": self.allocated[device]}},
            "reserved_bytes": {"all": {"current": self.reserved[device]}},
        }

    def synchronize(self, device=None):
        self.synchronized.append(self._chosen(device))

    def reset_peak_memory_stats(self, device=None):
        self.forgotten.append(self._chosen(device))

    def max_memory_allocated(self, device=None):
        return self.allocated[self._chosen(device)]

    def mem_get_info(self, device=None):
        return 0, 1000 * (1 + self._chosen(device))

    def empty_cache(self):
        pass

    def _chosen(self, device):
        return self.current if device is None else device


class StreamDouble:
    def __init__(self, cuda, device):
        self.cuda, self.device = cuda, device

    def record_event(self, event):
        event.record(self)
        return event


class EventDouble:
    def __init__(self, cuda, *, enable_timing):
        assert enable_timing
        self.cuda = cuda

    def record(self, stream=None):
        device = (stream or self.cuda.current_stream()).device
        self.cuda.recorded.append(device)
        self.at = self.cuda.milliseconds[device]

    def query(self):
        return True

    def elapsed_time(self, end):
        return end.at - self.at
