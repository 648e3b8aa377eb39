"""A FUSE file system with slow reads, like a network file system.

A flat, read-only folder of files. Needs root and /dev/fuse. Implements protocol 7.31 of
https://github.com/torvalds/linux/blob/master/include/uapi/linux/fuse.h
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import stat
import struct
import sys
import threading
import time
from pathlib import Path

KIND = "fuse.corpus"  # file system type, as reported by the kernel and the agent

_LOOKUP, _FORGET, _GETATTR, _OPEN, _READ = 1, 2, 3, 14, 15
_RELEASE, _FLUSH, _INIT, _INTERRUPT, _DESTROY, _FORGET_MANY = 18, 25, 26, 36, 38, 42
_NO_ANSWER = {_FORGET, _FORGET_MANY, _INTERRUPT}
_ENOENT, _ENOSYS = -2, -38
_HEADER = struct.Struct("<IIQQIIIHH")
_MOST = 1 << 20  # bytes of one request
_PAGES = 128 * 1024  # bytes of one read
_ASYNC_READ = 1
_ROOT = 1
_READ_ONLY, _NO_SUID, _NO_DEV, _DETACH = 1, 2, 4, 2
_FOREVER = 3600  # seconds
# Version, bytes of read-ahead, and how much may be under way.
_ABOUT_US = struct.pack(
    "<IIIIHHIIHHI28x", 7, 31, _PAGES, _ASYNC_READ, 64, 48, 4096, 1, 32, 0, 0
)


class Server:
    """Serves `files` files of `size` bytes from several threads."""

    def __init__(self, files: int, size: int, seconds: float) -> None:
        self.files, self.size, self.seconds = files, size, seconds
        self.device = os.open("/dev/fuse", os.O_RDWR)
        self._content = os.urandom(max(size, 1))

    def serve(self) -> None:
        while True:
            try:
                request = os.read(self.device, _MOST)
            except OSError:
                return  # it is no longer mounted
            _, kind, unique, node, *_ = _HEADER.unpack_from(request)
            if kind in _NO_ANSWER:
                continue
            error, answer = self.answer(kind, node, request[_HEADER.size :])
            header = struct.pack("<IiQ", 16 + len(answer), error, unique)
            try:
                os.write(self.device, header + answer)
            except OSError:
                continue  # the requesting process is gone

    def answer(self, kind: int, node: int, body: bytes) -> tuple[int, bytes]:
        """Return an error and the bytes of the answer."""
        if kind == _LOOKUP:
            return self._look_up(body)
        if kind == _READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            time.sleep(self.seconds)
            return 0, self._content[offset : offset + size]
        answers = {
            _INIT: _ABOUT_US,
            _GETATTR: struct.pack("<QII", _FOREVER, 0, 0) + self._attributes(node),
            # The page cache is invalidated at each open.
            _OPEN: struct.pack("<QII", 0, 0, 0),
            _RELEASE: b"",
            _FLUSH: b"",
            _DESTROY: b"",
        }
        return (0, answers[kind]) if kind in answers else (_ENOSYS, b"")

    def _look_up(self, body: bytes) -> tuple[int, bytes]:
        name = body.partition(b"\0")[0].decode().removesuffix(".bin")
        if not name.isdigit() or int(name) >= self.files:
            return _ENOENT, b""
        node = int(name) + _ROOT + 1
        entry = struct.pack("<QQQQII", node, 0, _FOREVER, _FOREVER, 0, 0)
        return 0, entry + self._attributes(node)

    def _attributes(self, node: int) -> bytes:
        is_root = node == _ROOT
        mode = stat.S_IFDIR | 0o555 if is_root else stat.S_IFREG | 0o444
        size = 0 if is_root else self.size
        blocks = (size + 511) // 512
        no_times = (0, 0, 0)
        return struct.pack(
            "<QQQQQQIIIIIIIIII",
            *(node, size, blocks, *no_times, *no_times),
            *(mode, 1, 0, 0, 0, 4096, 0),
        )


def mount(folder: Path, server: Server) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={server.device},rootmode=40000,user_id=0,group_id=0,allow_other"
    flags = _READ_ONLY | _NO_SUID | _NO_DEV
    if libc.mount(
        b"corpus", str(folder).encode(), KIND.encode(), flags, options.encode()
    ):
        raise OSError(ctypes.get_errno(), "cannot mount")


def unmount(folder: Path) -> None:
    ctypes.CDLL(None).umount2(str(folder).encode(), _DETACH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, required=True)
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="of each read")
    options = parser.parse_args()
    server = Server(options.files, options.bytes, options.seconds)
    mount(options.folder, server)
    for _ in range(8):
        threading.Thread(target=server.serve, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print("mounted", flush=True)
    try:
        signal.pause()
    finally:
        unmount(options.folder)


if __name__ == "__main__":
    main()
