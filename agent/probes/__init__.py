"""All probes. A new probe is one file and one line here."""

# The module in agent.probes and its class, imported by the sampler's thread.
PROBES = (
    ("machine.host", "HostProbe"),
    ("machine.memory", "MemoryProbe"),
    ("machine.disks", "DisksProbe"),
    ("machine.network", "NetworkProbe"),
    ("machine.rdma", "RdmaProbe"),
    ("machine.portable", "PortableProbe"),
    ("process.process", "ProcessProbe"),
    ("machine.cgroup", "CgroupProbe"),
    ("machine.cgroup_io", "CgroupIoProbe"),
    ("machine.pressure", "PressureProbe"),
    ("machine.storage", "StorageProbe"),
    ("nvidia.nvml", "NvmlProbe"),
    ("nvidia.nvml_events", "NvmlEventsProbe"),
    ("amd.amd", "AmdProbe"),
    ("amd.amd_events", "AmdEventsProbe"),
    ("process.torch_allocator", "TorchAllocatorProbe"),
    ("process.torch_compile", "TorchCompileProbe"),
)
