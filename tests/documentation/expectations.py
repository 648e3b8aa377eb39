"""What people expect of a diagnosis, and what of Seamark answers each expectation.

Collected from published guides on the use of GPUs in training and inference: Q are the
quantities that they want to see, R what they conclude from them, K what they advise.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expectation:
    """`rules` are numbers of the catalogue; `pages` are documents, from docs/."""

    number: str
    statement: str
    rules: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


MONITORING = "monitoring.md"
LADDER = "how-to/climb-a-ladder.md"
PYTORCH = "how-to/train-with-pytorch.md"
PROBES = "how-to/probe-a-job.md"
IMPORT = "how-to/import-what-you-have.md"
READ = "how-to/read-back-in-python.md"

QUANTITIES = (
    Expectation("Q1", "GPU utilization", ("C1", "C4"), (MONITORING,)),
    Expectation("Q2", "GPU memory in use and in all", ("C3", "M1"), (MONITORING,)),
    Expectation("Q3", "use of the memory's controller", ("C5", "C3"), (MONITORING,)),
    Expectation("Q4", "power draw", ("H2", "H3"), (MONITORING,)),
    Expectation("Q5", "temperature", ("H1", "H8"), (MONITORING,)),
    Expectation(
        "Q6",
        "CPU use beside GPU use",
        ("D1", "D2", "D3", "D4", "D5", "C2"),
        (MONITORING,),
    ),
    Expectation("Q7", "use of the host's memory", ("D16", "M4", "M5"), (MONITORING,)),
    Expectation(
        "Q8",
        "speed of storage, and from there to the GPU",
        ("D6", "D7", "D8", "D9", "D11"),
        (MONITORING,),
    ),
    Expectation(
        "Q9",
        "clocks, bandwidth and size of a card",
        ("H4", "C5", "C13", "H11"),
        (MONITORING,),
    ),
    Expectation("Q10", "any value that a script can read", (), ("quickstart.md",)),
    Expectation("Q11", "training time and quality beside hardware", ("P8",), (LADDER,)),
    Expectation(
        "Q12",
        "latency and load of inference",
        ("I1", "I2", "I3", "I4", "I5"),
        ("how-to/diagnose-a-service.md",),
    ),
    Expectation("Q13", "memory by part of the code", ("M1", "M6"), (MONITORING,)),
    Expectation(
        "Q14",
        "launches, gaps between kernels, time of loading, a timeline",
        ("C8", "C10", "D1"),
        (IMPORT,),
    ),
    Expectation("Q15", "how fast training converges", ("P8",), (LADDER,)),
    Expectation(
        "Q16",
        "what it costs",
        (),
        ("how-to/see-where-gpu-time-goes.md",),
    ),
)

CONCLUSIONS = (
    Expectation("R1", "GPU low, CPU high: loading or preparing limits", ("D1", "D2")),
    Expectation("R2", "memory of the host free: more loader workers", ("D3", "D16")),
    Expectation(
        "R3", "GPU low, CPU low: code uses neither", ("C2", "C8", "C10", "D5", "D8")
    ),
    Expectation("R4", "GPU memory free: a larger batch", ("C3",)),
    Expectation("R5", "GPU use low: a larger batch, up to the memory", ("C3", "M1")),
    Expectation("R6", "several cores at their limit: the GPU waits", ("D2",)),
    Expectation("R7", "GPU use above 70 % is mostly good", ("C11", "C4")),
    Expectation("R8", "memory's controller busy: a larger batch may lower it", ("C5",)),
    Expectation("R9", "hot: clocks fall", ("H1",)),
    Expectation("R10", "wrong power draw: supply or hardware", ("H3",)),
    Expectation("R11", "many small files: requests limit", ("D7",)),
    Expectation("R12", "remote storage slower than GPUs", ("D8",)),
    Expectation("R13", "tensor cores there: mixed precision gains", ("C6",)),
    Expectation(
        "R14", "memory left: larger batch, with quality in sight", ("C3", "P8")
    ),
    Expectation(
        "R15", "GPU often idle through copies and augmentation", ("D2", "D10", "D11")
    ),
    Expectation("R16", "allocation beyond memory: out of memory", ("M1", "M6")),
    Expectation("R17", "parameters and intermediate tensors take memory", ("M6",)),
    Expectation("R18", "model loaded for each request", ("I1",)),
    Expectation("R19", "pipeline cannot keep up", ("D1", "D2")),
    Expectation("R20", "old driver or toolkit", ("H10",)),
    Expectation("R21", "Python between kernels", ("C8",)),
    Expectation("R22", "too little bandwidth", ("C5", "H11")),
    Expectation("R23", "learning rate too high, or slow convergence", ("P8", "T7")),
    Expectation("R24", "still memory bound with mixed precision", ("M9",)),
)

ADVICE = (
    Expectation("K1", "larger batch, by trial, with an eye on quality", ("C3", "P8")),
    Expectation("K2", "larger learning rate or LARS with a larger batch", ("C3",)),
    Expectation("K3", "mixed precision", ("C6", "M9")),
    Expectation("K4", "pinned memory, copies beside computing", ("D11",)),
    Expectation("K5", "memory access beside computing", ("D11", "C5")),
    Expectation("K6", "more loader workers, by the number of cores", ("D3", "D4")),
    Expectation("K7", "processes instead of threads", ("D5",)),
    Expectation("K8", "prepare once, offline", ("D15",)),
    Expectation("K9", "decode on the GPU", ("D10",)),
    Expectation("K10", "decompress ahead", ("D10", "D15")),
    Expectation("K11", "keep data near, on local disks", ("D8", "D9")),
    Expectation("K12", "tf.data: map, prefetch, cache, AUTOTUNE", ("D3", "D12")),
    Expectation("K13", "augment on the CPU first, then try the GPU", ("D10",)),
    Expectation("K14", "prepare a batch while the GPU works", ("D1", "D12")),
    Expectation("K15", "share work between CPU and GPU rightly", ("D2", "H11")),
    Expectation("K16", "compare frameworks", (), (LADDER,)),
    Expectation("K17", "load a model once and keep it", ("I1",)),
    Expectation("K18", "a quick format for models; loading that may fail", ("I4",)),
    Expectation("K19", "smaller batch where memory is short", ("M1", "M6")),
    Expectation("K20", "prune, quantize, distil", ("M1", "I3")),
    Expectation("K21", "accumulate gradients", ("M9",)),
    Expectation("K22", "a GPU with more memory", ("M1", "H11")),
    Expectation("K23", "watch memory in training and inference", ("M1", "M2", "M3")),
    Expectation("K24", "let go of intermediate results", ("M2",)),
    Expectation("K25", "augment at random instead of storing more", ("D15",)),
    Expectation("K26", "split the model, or the data, over GPUs", ("G1", "G5", "M9")),
    Expectation("K27", "an optimizer that converges faster", ("P8",)),
    Expectation("K28", "compile: XLA, tf.function, torch.compile", ("C8",)),
    Expectation("K29", "use the frameworks' profilers", ("C8",), (IMPORT,)),
    Expectation("K30", "keep drivers current", ("H10",)),
    Expectation("K31", "assess each single improvement", (), (LADDER,)),
    Expectation("K32", "one run of several scripts, each a stage", ("P1", "P2", "P3")),
    Expectation("K33", "which card to buy", ("H11",)),
    Expectation("K34", "experiment systematically", (), (PROBES, LADDER)),
    Expectation("K35", "builds with the right libraries", ("H10", "C5", "H11")),
    Expectation("K36", "check accuracy with fewer bits", ("C6", "P8")),
    Expectation(
        "K37",
        "look at the whole way from data to inference",
        ("P1", "P2", "P3"),
        ("how-to/see-where-gpu-time-goes.md",),
    ),
)

EXPECTATIONS = {
    "What people want to see": QUANTITIES,
    "What they conclude": CONCLUSIONS,
    "What they advise": ADVICE,
}
COUNTS = {"Q": 16, "R": 24, "K": 37}
