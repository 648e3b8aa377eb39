"""Every probe. A new one is a file of its own and a line here."""

# The module below agent.probes, and the class in it. Imported by the sampler's thread.
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
