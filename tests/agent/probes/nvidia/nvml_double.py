# ruff: noqa: N802, N815, PLR0917 - the driver library's own names
"""Simulates NVIDIA's driver behind its C library.

The real pynvml runs in tests, with its structures, versions and error classes. Its C
calls are answered here as by a driver of 2026, for three kinds of cards.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from functools import partial

import pynvml

SUCCESS, INVALID, NOT_SUPPORTED, NOT_FOUND = 0, 2, 3, 6
INSUFFICIENT_SIZE, TIMEOUT, LOST, MISMATCH = 7, 10, 15, 25
FORBIDDEN, UNLOADED, RESET_REQUIRED = 4, 9, 16
GIB = 2**30
_ULL = pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
_UINT = pynvml.NVML_VALUE_TYPE_UNSIGNED_INT
_INT = pynvml.NVML_VALUE_TYPE_SIGNED_INT
# Fields with a value per link (NVLink 5 and some earlier), or per lane.
BY_LINK = (161, 162, 163, 183, *range(201, 223))
_FIRST_HANDLE = 0x1000
_SLICE = 0x100
_ALIAS = 0x10000  # between two handles for one card


@dataclass
class Card:
    """A card; `lacks` names functions and fields that it does not support."""

    name: str = "NVIDIA Test H100"
    total: int = 80 * GIB
    used: int = 5 * GIB
    reserved: int = GIB // 2
    milliwatts: int = 250_500
    millijoules: int = 1_000_000
    utilization: int = 90
    controller: int = 40
    celsius: int = 61
    mask: int = 0x4
    reasons: int = 0x1FF  # supported bits of the mask
    lacks: set[str] = field(default_factory=set)
    fails: dict[str, int] = field(default_factory=dict)
    fields: dict[int, float] = field(default_factory=dict)
    narrow: set[int] = field(default_factory=set)  # fields of 32 bits
    forbidden: set[int] = field(default_factory=set)  # fields
    links: dict[tuple[int, int], float] = field(default_factory=dict)  # field, link
    graphics: list[tuple[int, int]] = field(default_factory=list)
    samples: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    processes: list[tuple[int, int]] = field(default_factory=list)
    shares: list[tuple[int, ...]] = field(default_factory=list)
    slices: int | None = None
    has_gpm: bool = True
    gpm: dict[int, float] = field(default_factory=dict)
    uuid: str = ""  # by its number, if it has none


class NvmlDouble:
    """Takes the place of `pynvml.nvmlLib`; every call is counted."""

    def __init__(self, *cards: Card):
        self.cards = list(cards)
        self.calls: list[str] = []
        self.asked_fields: list[int] = []
        self.blocked: threading.Event | None = None  # until it is set, calls hang
        self.events: list[tuple[int, int]] = []
        self.fails_to_wait: list[int] = []
        self.has_other_handles_for_events = False
        self.has_driver = True
        self._gpm_samples: dict[int, ctypes.c_uint] = {}

        def error_string(code):
            return f"error {code}".encode()

        self.nvmlErrorString = error_string

    def __getattr__(self, name):
        if not name.startswith("nvml"):
            raise AttributeError(name)
        answer = getattr(type(self), f"on_{name}", None)
        number = NUMBERS.get(name)
        if answer is None and number is None:
            # As in an older driver.
            raise AttributeError(name)
        if answer is None:
            return partial(self._number, name, number)
        return partial(self._answer, name, partial(answer, self))

    def _answer(self, name, answer, *arguments):
        self.calls.append(name)
        if self.blocked is not None:
            self.blocked.wait(60)
        card = self._card(arguments[0]) if arguments else None
        if card is not None:
            if card.fails.get("all"):
                return card.fails["all"]
            if name in card.lacks:
                return NOT_SUPPORTED
            if name in card.fails:
                return card.fails[name]
        return answer(*arguments)

    def _number(self, name, number, *arguments):
        def answer(*given):
            value = number(self._card(given[0])) if callable(number) else number
            given[-1]._obj.value = value
            return SUCCESS

        return self._answer(name, answer, *arguments)

    def _card(self, handle):
        if not isinstance(handle, pynvml.c_nvmlDevice_t):
            return None
        return self.cards[(_address(handle) - _FIRST_HANDLE) % _SLICE]

    # The machine.

    def on_nvmlInitWithFlags(self, flags):
        return SUCCESS if self.has_driver else 9

    def on_nvmlDeviceGetCount_v2(self, count):
        count._obj.value = len(self.cards)
        return SUCCESS

    def on_nvmlDeviceGetHandleByIndex_v2(self, index, handle):
        _point(handle._obj, _FIRST_HANDLE + index.value)
        return self.cards[index.value].fails.get("handle", SUCCESS)

    def on_nvmlDeviceGetHandleByUUID(self, uuid, handle):
        for index, card in enumerate(self.cards):
            for part in range((card.slices or 0) + 1):
                _point(handle._obj, _FIRST_HANDLE + index + _SLICE * part)
                if self._uuid(handle._obj) == uuid.value.decode():
                    return SUCCESS
        return NOT_FOUND

    def on_nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, part, handle):
        number = (_address(part) - _FIRST_HANDLE) % _SLICE
        _point(handle._obj, _FIRST_HANDLE + number)
        return SUCCESS

    def on_nvmlSystemGetDriverVersion(self, text, size):
        text.value = b"580.65.06"
        return SUCCESS

    def on_nvmlSystemGetCudaDriverVersion(self, version):
        version._obj.value = 13000
        return SUCCESS

    # Identity and properties.

    def on_nvmlDeviceGetName(self, handle, text, size):
        text.value = self._card(handle).name.encode()
        return SUCCESS

    def on_nvmlDeviceGetUUID(self, handle, text, size):
        text.value = self._uuid(handle).encode()
        return SUCCESS

    def _uuid(self, handle):
        number = (_address(handle) - _FIRST_HANDLE) % _ALIAS
        index, part = number % _SLICE, number // _SLICE
        if self.cards[index].uuid and not part:
            return self.cards[index].uuid
        kind = "MIG" if part else "GPU"
        return f"{kind}-{index}{index}{index}{index}-{part}"

    def on_nvmlDeviceGetPciInfo_v3(self, handle, info):
        info._obj.busId = f"00000000:0{_address(handle) - _FIRST_HANDLE}:00.0".encode()
        return SUCCESS

    def on_nvmlDeviceGetCudaComputeCapability(self, handle, major, minor):
        major._obj.value, minor._obj.value = 9, 0
        return SUCCESS

    def on_nvmlDeviceGetPowerManagementLimitConstraints(self, handle, low, high):
        low._obj.value, high._obj.value = 200_000, 700_000
        return SUCCESS

    def on_nvmlDeviceGetTemperatureThreshold(self, handle, kind, degrees):
        degrees._obj.value = {0: 95, 1: 90, 2: 95, 3: 87}[kind.value]
        return SUCCESS

    def on_nvmlDeviceGetCpuAffinity(self, handle, size, words):
        words._obj[0], words._obj[1] = 0b1111, 0b1
        return SUCCESS

    def on_nvmlDeviceGetMemoryAffinity(self, handle, size, words, scope):
        words._obj[0] = 0b10
        return SUCCESS

    def on_nvmlDeviceGetPcieThroughput(self, handle, counter, value):
        value._obj.value = {0: 1_000, 1: 2_000}[counter.value]
        return SUCCESS

    def on_nvmlDeviceGetNvLinkState(self, handle, link, active):
        if link >= 4:
            return INVALID
        active._obj.value = link != 3
        return SUCCESS

    def on_nvmlDeviceGetNvLinkVersion(self, handle, link, version):
        version._obj.value = pynvml.NVML_NVLINK_VERSION_4_0
        return SUCCESS

    def on_nvmlDeviceGetEccMode(self, handle, current, pending):
        current._obj.value = pending._obj.value = 1
        return SUCCESS

    def on_nvmlDeviceGetMigMode(self, handle, current, pending):
        slices = self._card(handle).slices
        if slices is None:
            return NOT_SUPPORTED
        current._obj.value = pending._obj.value = 1
        return SUCCESS

    def on_nvmlDeviceGetMaxMigDeviceCount(self, handle, count):
        count._obj.value = 7
        return SUCCESS

    def on_nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index, found):
        if index.value >= (self._card(handle).slices or 0):
            return NOT_FOUND
        _point(found._obj, _address(handle) + _SLICE * (index.value + 1))
        return SUCCESS

    def on_nvmlDeviceGetGpuInstanceId(self, handle, number):
        number._obj.value = (_address(handle) - _FIRST_HANDLE) // _SLICE
        return SUCCESS

    # Current state.

    def on_nvmlDeviceGetUtilizationRates(self, handle, rates):
        card = self._card(handle)
        if card.slices is not None:
            return NOT_SUPPORTED
        rates._obj.gpu, rates._obj.memory = card.utilization, card.controller
        return SUCCESS

    def on_nvmlDeviceGetMemoryInfo(self, handle, info):
        card = self._card(handle)
        info._obj.total, info._obj.used = card.total, card.used + card.reserved
        return SUCCESS

    def on_nvmlDeviceGetMemoryInfo_v2(self, handle, info):
        # The version holds the size of the structure, too.
        if info._obj.version != 2 << 24 | ctypes.sizeof(info._obj):
            return MISMATCH
        card = self._card(handle)
        info._obj.total, info._obj.used = card.total, card.used
        info._obj.reserved = card.reserved
        return SUCCESS

    def on_nvmlDeviceGetTemperatureV(self, handle, info):
        if info._obj.version != 1 << 24 | ctypes.sizeof(info._obj):
            return MISMATCH
        info._obj.temperature = self._card(handle).celsius
        return SUCCESS

    def on_nvmlDeviceGetMarginTemperature(self, handle, info):
        if info._obj.version != 1 << 24 | ctypes.sizeof(info._obj):
            return MISMATCH
        info._obj.marginTemperature = 90 - self._card(handle).celsius
        return SUCCESS

    def on_nvmlDeviceGetClockInfo(self, handle, kind, clock):
        clock._obj.value = {1: 1_410, 2: 2_619}[kind.value]
        return SUCCESS

    on_nvmlDeviceGetMaxClockInfo = on_nvmlDeviceGetClockInfo

    def on_nvmlDeviceGetEncoderUtilization(self, handle, percent, period):
        percent._obj.value, period._obj.value = 7, 167_000
        return SUCCESS

    on_nvmlDeviceGetDecoderUtilization = on_nvmlDeviceGetEncoderUtilization
    on_nvmlDeviceGetJpgUtilization = on_nvmlDeviceGetEncoderUtilization
    on_nvmlDeviceGetOfaUtilization = on_nvmlDeviceGetEncoderUtilization

    # Counters.

    def on_nvmlDeviceGetFieldValues(self, handle, count, values):
        card = self._card(handle)
        for found in values._obj[: count.value]:
            place = (found.fieldId, found.scopeId)
            self.asked_fields.append(found.fieldId)
            if found.fieldId in card.forbidden:
                found.nvmlReturn = FORBIDDEN
                continue
            is_by_link = found.fieldId in BY_LINK
            value = card.links.get(place) if is_by_link else card.fields.get(place[0])
            if value is None:
                found.nvmlReturn = INVALID if is_by_link else NOT_SUPPORTED
                continue
            # The sum over all links has the highest link number.
            scope = 0xFFFFFFFF if found.fieldId in range(138, 142) else 0
            if not is_by_link and found.scopeId != scope:
                found.nvmlReturn = INVALID
                continue
            if place[0] in card.narrow:
                found.nvmlReturn, found.valueType = SUCCESS, _UINT
                found.value.uiVal = int(value) % 2**32
                continue
            is_negative = value < 0
            found.nvmlReturn, found.valueType = SUCCESS, _INT if is_negative else _ULL
            setattr(found.value, "siVal" if is_negative else "ullVal", int(value))
        return SUCCESS

    def on_nvmlDeviceGetSamples(self, handle, kind, last, value_type, count, samples):
        card = self._card(handle)
        there = [s for s in card.samples.get(kind.value, []) if s[0] > last.value]
        if card.slices is not None or kind.value not in card.samples:
            return NOT_SUPPORTED
        if not there:
            return NOT_FOUND
        value_type._obj.value = _UINT
        if samples is None:
            # The size of the buffer, which may have fewer entries.
            count._obj.value = 120
            return SUCCESS
        for place, (moment, value) in enumerate(there):
            samples[place].timeStamp = moment
            samples[place].sampleValue.uiVal = value
        count._obj.value = len(there)
        return SUCCESS

    # Processes.

    def on_nvmlDeviceGetComputeRunningProcesses_v3(self, handle, count, found):
        return self._processes(self._card(handle).processes, count, found)

    def on_nvmlDeviceGetGraphicsRunningProcesses_v3(self, handle, count, found):
        return self._processes(self._card(handle).graphics, count, found)

    @staticmethod
    def _processes(processes, count, found):
        if found is None:
            count._obj.value = len(processes)
            return INSUFFICIENT_SIZE if processes else SUCCESS
        for place, (pid, used) in enumerate(processes):
            found[place].pid, found[place].usedGpuMemory = pid, used
        count._obj.value = len(processes)
        return SUCCESS

    def on_nvmlDeviceGetProcessUtilization(self, handle, found, count, last):
        card = self._card(handle)
        there = [share for share in card.shares if share[0] > last.value]
        if not there:
            return NOT_FOUND
        if found is None:
            count._obj.value = len(there)
            return INSUFFICIENT_SIZE
        for place, (moment, pid, *percents) in enumerate(there):
            found[place].timeStamp, found[place].pid = moment, pid
            members = ("smUtil", "memUtil", "encUtil", "decUtil")
            for member, percent in zip(members, percents, strict=False):
                setattr(found[place], member, percent)
        count._obj.value = len(there)
        return SUCCESS

    # Its hardware counters.

    def on_nvmlGpmQueryDeviceSupport(self, handle, support):
        support._obj.isSupportedDevice = self._card(handle).has_gpm
        return SUCCESS

    def on_nvmlGpmSampleAlloc(self, sample):
        memory = ctypes.c_uint(0)
        self._gpm_samples[ctypes.addressof(memory)] = memory
        _point(sample._obj, ctypes.addressof(memory))
        return SUCCESS

    def on_nvmlGpmSampleGet(self, handle, sample):
        if self._card(handle).slices is not None:
            return NOT_SUPPORTED
        return self._take(handle, sample)

    def on_nvmlGpmMigSampleGet(self, handle, instance, sample):
        return self._take(handle, sample)

    def _take(self, handle, sample):
        index = (_address(handle) - _FIRST_HANDLE) % _SLICE
        self._gpm_samples[_address(sample)].value = index + 1
        return SUCCESS

    def on_nvmlGpmMetricsGet(self, request):
        asked = request._obj
        taken = self._gpm_samples[_address(asked.sample1)].value
        if asked.version != 1 or not taken:
            return INVALID
        for metric in asked.metrics[: asked.numMetrics]:
            values = self.cards[taken - 1].gpm
            metric.nvmlReturn = SUCCESS if metric.metricId in values else NOT_SUPPORTED
            metric.value = values.get(metric.metricId, 0.0)
        return SUCCESS

    def on_nvmlGpmSampleFree(self, sample):
        del self._gpm_samples[_address(sample)]
        return SUCCESS

    # Its errors.

    def on_nvmlEventSetCreate(self, events):
        return SUCCESS

    def on_nvmlEventSetFree(self, events):
        return SUCCESS

    def on_nvmlDeviceGetSupportedEventTypes(self, handle, types):
        types._obj.value = pynvml.nvmlEventTypeXidCriticalError
        return SUCCESS

    def on_nvmlDeviceRegisterEvents(self, handle, types, events):
        return SUCCESS

    def on_nvmlEventSetWait_v2(self, events, data, milliseconds):
        if self.fails_to_wait:
            return self.fails_to_wait.pop(0)
        if not self.events:
            return TIMEOUT
        index, number = self.events.pop(0)
        other = _ALIAS if self.has_other_handles_for_events else 0
        _point(data._obj, _FIRST_HANDLE + index + other)
        data._obj.eventType = pynvml.nvmlEventTypeXidCriticalError
        data._obj.eventData = number
        return SUCCESS


# Calls that answer with one number.
NUMBERS = {
    "nvmlDeviceGetPowerUsage": lambda card: card.milliwatts,
    "nvmlDeviceGetTotalEnergyConsumption": lambda card: card.millijoules,
    "nvmlDeviceGetEnforcedPowerLimit": 400_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 700_000,
    "nvmlDeviceGetPerformanceState": 0,
    "nvmlDeviceGetCurrentClocksEventReasons": lambda card: card.mask,
    "nvmlDeviceGetSupportedClocksEventReasons": lambda card: card.reasons,
    "nvmlDeviceGetFanSpeed": 30,
    "nvmlDeviceGetCurrPcieLinkGeneration": 5,
    "nvmlDeviceGetCurrPcieLinkWidth": 8,
    "nvmlDeviceGetMaxPcieLinkGeneration": 5,
    "nvmlDeviceGetGpuMaxPcieLinkGeneration": 5,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetNumGpuCores": 16_896,
    "nvmlDeviceGetMemoryBusWidth": 5_120,
    "nvmlDeviceGetPcieReplayCounter": 0,
    "nvmlDeviceGetArchitecture": pynvml.NVML_DEVICE_ARCH_HOPPER,
    "nvmlDeviceGetVirtualizationMode": pynvml.NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH,
    "nvmlDeviceGetPowerManagementLimit": 450_000,
}


def _address(pointer):
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _point(pointer, address):
    ctypes.cast(ctypes.byref(pointer), ctypes.POINTER(ctypes.c_void_p))[0] = address
