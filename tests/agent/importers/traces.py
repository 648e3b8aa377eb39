"""Small traces as torch.profiler writes them, made up here."""

from __future__ import annotations

import gzip
import json

START = 1_700_000_000_000_000.0
MILLISECOND = 1_000.0
SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
SEVERAL = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
DEVICE = {
    "id": 0,
    "name": "Tesla V100",
    "totalGlobalMem": 34_000_000_000,
    "computeMajor": 7,
    "computeMinor": 0,
}


def span(category, name, start_ms, length_ms, *, thread=7, start=START, **arguments):
    """Return an event that begins so many milliseconds after the trace."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 7,
        "tid": thread,
        "ts": start + start_ms * MILLISECOND,
        "dur": length_ms * MILLISECOND,
        "args": arguments,
    }


def kernel(start_ms, length_ms, name="sgemm", device=0, **more):
    return span("kernel", name, start_ms, length_ms, device=device, **more)


def step_events(number, *, step=100.0, wait=40.0, work=50.0, loader=SINGLE, **more):
    """Return one step: it waits, then computes on the GPU."""
    since = number * step
    return [
        span("user_annotation", f"ProfilerStep#{number}", since, step, **more),
        span("cpu_op", loader, since, wait, **more),
        kernel(since + wait, work, **more),
    ]


def trace_of(events, **members):
    return {
        "schemaVersion": 1,
        "deviceProperties": [DEVICE],
        **members,
        "traceEvents": events,
        "traceName": "t",
    }


def write_trace(path, events, **members):
    """Write a trace, compressed if the name has that suffix."""
    text = json.dumps(trace_of(events, **members))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def steps_of(count, **options):
    return [event for n in range(count) for event in step_events(n, **options)]
