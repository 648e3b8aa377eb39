"""All probes. A new probe is one file and one line here."""

# The module in agent.probes and its class, imported by the sampler's thread.
PROBES = (
    ("host", "HostProbe"),
    ("memory", "MemoryProbe"),
    ("disks", "DisksProbe"),
    ("network", "NetworkProbe"),
    ("rdma", "RdmaProbe"),
    ("portable", "PortableProbe"),
    ("process", "ProcessProbe"),
    ("cgroup", "CgroupProbe"),
    ("cgroup_io", "CgroupIoProbe"),
    ("pressure", "PressureProbe"),
    ("storage", "StorageProbe"),
    ("nvml", "NvmlProbe"),
    ("nvml_events", "NvmlEventsProbe"),
    ("amd", "AmdProbe"),
    ("amd_events", "AmdEventsProbe"),
    ("torch_allocator", "TorchAllocatorProbe"),
    ("torch_compile", "TorchCompileProbe"),
)
