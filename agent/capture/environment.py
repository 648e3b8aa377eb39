"""Captures the environment variables on a list of those that affect training."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from seamark.capture.facts import Facts
from seamark.capture.texts import REDACTED
from seamark.redaction import is_secret_name

# docs/how-to/automatic-capture.md has the same list. Each entry is a name, or a prefix
# followed by a star.
ALLOWED = (
    # Devices and their libraries.
    "CUDA_*",
    "CUDNN_*",
    "CUBLAS_*",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_TF32_OVERRIDE",
    "NVTE_*",
    "NCCL_*",
    "UCX_*",
    "FI_PROVIDER",
    "FI_EFA_*",
    "FI_HMEM*",
    "HIP_*",
    "ROCR_*",
    "HSA_*",
    "RCCL_*",
    "MIOPEN_*",
    "GPU_DEVICE_ORDINAL",
    "ZE_AFFINITY_MASK",
    "TPU_*",
    # Threads.
    "OMP_*",
    "KMP_*",
    "GOMP_*",
    "MKL_*",
    "OPENBLAS_*",
    "NUMEXPR_*",
    "BLIS_*",
    "VECLIB_MAXIMUM_THREADS",
    "TBB_*",
    "RAYON_NUM_THREADS",
    "TOKENIZERS_PARALLELISM",
    # Memory.
    "MALLOC_*",
    "LD_PRELOAD",
    "MIMALLOC_*",
    # Frameworks.
    "PYTORCH_*",
    "TORCH_*",
    "TORCHINDUCTOR_*",
    "TORCHDYNAMO_*",
    "TORCHELASTIC_*",
    "TRITON_*",
    "XLA_*",
    "JAX_*",
    # Not TF_*: Terraform's variables have the same prefix.
    "TF_CONFIG",
    "TF_CPP_*",
    "TF_CUDNN_*",
    "TF_DETERMINISTIC_OPS",
    "TF_ENABLE_*",
    "TF_FORCE_*",
    "TF_GPU_*",
    "TF_NUM_*",
    "TF_XLA_*",
    "ACCELERATE_*",
    "DS_ACCELERATOR",
    "DS_BUILD_*",
    "HF_HUB_OFFLINE",
    "HF_DATASETS_OFFLINE",
    "HF_HUB_ENABLE_HF_TRANSFER",
    "TRANSFORMERS_OFFLINE",
    "PYTHONHASHSEED",
    "PYTHONOPTIMIZE",
    "PYTHONUNBUFFERED",
    "PYTHONPATH",
    "PYTHONFAULTHANDLER",
    "CONDA_DEFAULT_ENV",
    "VIRTUAL_ENV",
    # The process index and the number of processes.
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "OMPI_COMM_WORLD_*",
    "PMI_RANK",
    "PMI_SIZE",
    # Job schedulers.
    "SLURM_JOB_*",
    "SLURM_ARRAY_*",
    "SLURM_CLUSTER_NAME",
    "SLURM_CPUS_*",
    "SLURM_GPUS*",
    "SLURM_MEM_*",
    "SLURM_NNODES",
    "SLURM_NODEID",
    "SLURM_NODELIST",
    "SLURM_NTASKS*",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_RESTART_COUNT",
    "SLURM_SUBMIT_DIR",
    "PBS_JOBID",
    "PBS_JOBNAME",
    "LSB_JOBID",
    "LSB_JOBNAME",
    "JOB_ID",
    "KUBERNETES_SERVICE_HOST",
    "HOSTNAME",
)
_MAX_VARIABLES = 500
_LONGEST_VALUE = 4_096  # characters
_PATTERN = re.compile(
    "|".join(re.escape(name).replace(r"\*", r"\w*") for name in ALLOWED)
)


def facts(environment: Mapping[str, str] = os.environ) -> Facts:
    """Return the variables on the list, without secrets."""
    found: Facts = {}
    for name in sorted(environment):
        if len(found) >= _MAX_VARIABLES:
            break
        if _PATTERN.fullmatch(name):
            value = environment[name]
            found[name] = REDACTED if is_secret_name(name) else value[:_LONGEST_VALUE]
    return found
