"""Activities of the training thread, by the names of functions in its profile (pure).

A function is like a phase: its name tells its purpose. The outermost function with a known
purpose counts, because what it calls belongs to it: the model within an evaluation, or the
decoder within the loading of a batch.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tracker.diagnosis.analysis.code_lines import FrameKind, innermost_own, kind_of
from tracker.diagnosis.analysis.code_profile import STEPS, CallTree, Node, parse_profile
from tracker.diagnosis.analysis.statistics import average
from tracker.diagnosis.breakdown.phases import PhaseKind, kind_of_phase, words_of
from tracker.diagnosis.engine.finding import Abstention, Evidence, Side
from tracker.diagnosis.engine.wording import percent
from tracker.diagnosis.signals import Samples, Tracked

CODE_PROFILE = "code_profile"  # the signal
# Summaries name a function or a line of the script after this; share links hide it.
MOSTLY_IN = ", mostly in "

SCRIPT = "<module>"  # the function of lines outside of functions
# From this share of a function's samples on, one line is named.
ONE_LINE = 0.6

# Limits are compared with shares without their error, which is large for few samples.
FEWEST_SAMPLES = 50

# Batches: loading, decoding and preprocessing, in the training thread itself.
DATA = frozenset({PhaseKind.LOAD_DATA, PhaseKind.DECODE, PhaseKind.PREPROCESS})
KINDS = DATA | {
    PhaseKind.CHECKPOINT,
    PhaseKind.LOG,
    PhaseKind.EVALUATE,
    PhaseKind.LOAD_MODEL,
    PhaseKind.COMMUNICATE,
}

# Times the batches of run.loader.
LOADER = "seamark.recording.loader"
# Packages and modules by kind; the longest prefix of a module wins.
LIBRARIES: dict[str, PhaseKind] = {
    **dict.fromkeys(
        (
            *("torch.utils.data", "torchvision.transforms", "torchvision.datasets"),
            *(
                "torchvision.io",
                "torchaudio",
                "PIL",
                "cv2",
                "imageio",
                "albumentations",
            ),
            *("datasets", "tokenizers", "transformers.tokenization_utils_base"),
            *("pandas.io", "pyarrow", "h5py", "zarr", "lmdb", "soundfile", "librosa"),
            *("csv", "gzip", "zipfile", "tarfile", "webdataset", "numpy.lib.format"),
        ),
        PhaseKind.LOAD_DATA,
    ),
    **dict.fromkeys(
        (
            *("logging", "tqdm", "seamark", "tensorboardX", "torch.utils.tensorboard"),
            *("matplotlib", "wandb", "mlflow", "rich", "neptune", "aim"),
        ),
        PhaseKind.LOG,
    ),
    "torch.distributed": PhaseKind.COMMUNICATE,
}
# Functions of libraries that also do other things.
FUNCTIONS = {
    ("torch.serialization", "save"): PhaseKind.CHECKPOINT,
    ("torch.serialization", "load"): PhaseKind.LOAD_MODEL,
    ("joblib.numpy_pickle", "dump"): PhaseKind.CHECKPOINT,
    ("joblib.numpy_pickle", "load"): PhaseKind.LOAD_MODEL,
    ("safetensors.torch", "save_file"): PhaseKind.CHECKPOINT,
    ("safetensors.torch", "load_file"): PhaseKind.LOAD_MODEL,
}
# Packages that launch the work of a model on a GPU.
LAUNCHING = ("torch.nn", "torch.autograd", "torch.optim", "torch._tensor", "torch.amp")
BACKWARD = "torch.autograd"
# Modules in which a thread waits for other threads.
THREADING = frozenset({"threading", "queue", "concurrent.futures._base"})
# Words of users' functions that prepare a batch, besides those of phases.
DATA_WORDS = frozenset(
    (
        *("load", "read", "decode", "parse", "augment", "collate", "fetch"),
        *("tokenize", "preprocess", "batches", "getitem"),
    )
)
# Together with "batch".
MAKING_WORDS = frozenset(("make", "next", "get", "prepare", "build", "sample", "draw"))
# Functions with one of these words are the loop itself, whatever else they contain.
LOOP_WORDS = frozenset(("train", "training", "fit", "main", "run"))
# A game also has valid moves and tests.
EVALUATION_WORDS = frozenset(
    ("evaluate", "evaluation", "eval", "validate", "validation")
)
EVALUATION_NAMES = frozenset({"test", "val", "valid"})
LOADING_WORDS = frozenset({"model", "weights", "checkpoint", "ckpt", "pretrained"})


@dataclass(frozen=True, slots=True)
class Activity:
    """A share of the samples after the second logged step, and the line with most of it."""

    share: float
    least: float  # the share without its sampling error
    place: str

    def evidence(self, what: str, limit: float) -> Evidence:
        """Return the share of samples in `what` as evidence."""
        return Evidence(
            CODE_PROFILE,
            f"samples in {what}, share",
            self.share,
            "share",
            limit,
            Side.ABOVE,
        )

    def sentence(self, what: str) -> str:
        """Return "By function names, loading takes 61 % of …", without the final period."""
        return (
            f"By function names, {what} takes {percent(self.share)} of the training"
            f" thread's time{MOSTLY_IN}{self.place}"
        )


def activity_of_training(
    code_profile: str,
    losses: Mapping[str, Tracked] | None,
    busiest_gpu_percent: Samples | None,
    limit: float,
    *kinds: PhaseKind,
) -> Activity | Abstention | None:
    """Return an activity whose share is above a limit; None if it is below.

    A stage without a loss does not train: preparing or saving data may be its work.
    """
    if not losses:
        return Abstention(("losses",))
    found = find_activity(code_profile, busiest_gpu_percent, *kinds)
    if found is None:
        return Abstention((CODE_PROFILE,))
    return found if found.least >= limit else None


def find_activity(
    code_profile: str, busiest_gpu_percent: Samples | None, *kinds: PhaseKind
) -> Activity | None:
    """Return the part of training with this purpose; None if the profile is too short.

    Time in which a GPU works is not lost, so the share is at most that of an idle GPU.
    What the loader's own timer measures is left out.
    """
    tree = parse_profile(code_profile).get(STEPS)
    if tree is None or tree.samples < FEWEST_SAMPLES:
        return None
    found = [
        position
        for position, node in enumerate(tree.nodes)
        if node.samples and kind_of_stack(tree, position) in kinds
    ]
    share = sum(tree.nodes[position].samples for position in found) / tree.samples
    if busiest_gpu_percent is not None:
        share = min(share, 1.0 - average(busiest_gpu_percent.values) / 100)
    place, _ = place_of(tree, found)
    least = share - _error_of(share, tree.samples)
    return Activity(share, least, place or "libraries")


def _error_of(share: float, samples: int) -> float:
    """Return two standard errors."""
    return 2.0 * math.sqrt(share * (1.0 - share) / samples)


def share_of_waits_for_threads(code_profile: str) -> float | None:
    """Return the share of training in waits for other threads; None if it is unknown."""
    tree = parse_profile(code_profile).get(STEPS)
    if tree is None or tree.samples < FEWEST_SAMPLES:
        return None
    waits = sum(
        node.samples
        for node in tree.nodes
        if node.where in THREADING and kind_of(node) is FrameKind.WAITING
    )
    return waits / tree.samples


@dataclass(frozen=True, slots=True)
class Launches:
    """Shares of the samples of training: in the model and its optimizer, and backward."""

    share: float
    least: float  # the share without its sampling error
    backward_share: float
    place: str


def find_launches(code_profile: str) -> Launches | None:
    """Return the part of training in which PyTorch issues work; None if it is unknown.

    The user's own layers belong to it; what has another purpose, such as an evaluation,
    does not, nor does waiting.
    """
    tree = parse_profile(code_profile).get(STEPS)
    if tree is None or tree.samples < FEWEST_SAMPLES:
        return None
    found, backward = [], 0
    for position, node in enumerate(tree.nodes):
        modules = [each.where for each in tree.stack(position) if each.is_library]
        if (
            node.samples
            and any(module.startswith(LAUNCHING) for module in modules)
            and kind_of(node) is not FrameKind.WAITING
            and kind_of_stack(tree, position) is None
        ):
            found.append(position)
            is_backward = any(module.startswith(BACKWARD) for module in modules)
            backward += node.samples if is_backward else 0
    share = sum(tree.nodes[position].samples for position in found) / tree.samples
    place, _ = place_of(tree, found)
    least = share - _error_of(share, tree.samples)
    return Launches(share, least, backward / tree.samples, place or "libraries")


def kind_of_stack(tree: CallTree, position: int) -> PhaseKind | None:
    """Return the purpose of the outermost function that has a known one."""
    for node in tree.stack(position):
        if node.where == LOADER:
            return None
        kind = (
            kind_of_library(node)
            if node.is_library
            else kind_of_function(node.function)
        )
        if kind is not None:
            return kind
    return None


def kind_of_library(node: Node) -> PhaseKind | None:
    special = FUNCTIONS.get((node.where, node.function))
    if special is not None:
        return special
    prefix = node.where
    while prefix:
        if prefix in LIBRARIES:
            return LIBRARIES[prefix]
        prefix = prefix.rpartition(".")[0]
    is_saving = node.function.rpartition(".")[2].startswith("save")
    return PhaseKind.CHECKPOINT if is_saving else None


@lru_cache(maxsize=4096)
def kind_of_function(name: str) -> PhaseKind | None:
    """Return the purpose of a user's function, from the last part of its qualified name."""
    name = name.rpartition(".")[2]
    words = set(words_of(name))
    if words & LOOP_WORDS:
        return None
    kind = kind_of_phase(name)
    if kind is PhaseKind.EVALUATE:
        is_clear = words & EVALUATION_WORDS or name.lower() in EVALUATION_NAMES
        return kind if is_clear else None
    if kind in KINDS:
        return kind
    is_loading = words & DATA_WORDS and not words & LOADING_WORDS
    is_making = "batch" in words and words & MAKING_WORDS
    return PhaseKind.LOAD_DATA if is_loading or is_making else None


def place_of(tree: CallTree, positions: Iterable[int]) -> tuple[str, int]:
    """Return the user's function with most of these samples, and their number; "" if none.

    One line of it if most of them are there: "decode (data.py:42)", else "decode
    (data.py:40–44)". Lines of the script itself count separately.
    """
    functions: defaultdict[tuple[str, str, int], Counter[int]] = defaultdict(Counter)
    for position in positions:
        node = innermost_own(tree, tree.nodes[position])
        if node is not None:
            is_script = node.function == SCRIPT
            key = (node.function, node.where, node.line if is_script else 0)
            functions[key][node.line] += tree.nodes[position].samples
    if not functions:
        return "", 0
    (function, where, _), lines = max(
        functions.items(), key=lambda item: item[1].total()
    )
    ((line, samples),) = lines.most_common(1)
    at = f"{where}:{line}"
    if samples < ONE_LINE * lines.total():
        at = f"{where}:{min(lines)}–{max(lines)}"
        samples = lines.total()
    return (at if function == SCRIPT else f"{function} ({at})"), samples
