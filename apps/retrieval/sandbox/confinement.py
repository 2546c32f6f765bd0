"""Confine a process before it reads documents that may be hostile: files, network, processes and memory.

The seccomp filter is the strongest measure and needs no privilege. The others hold where it is not available: limits
everywhere on Linux, the change of user for root, namespaces where the kernel lets users create them.
"""

import ctypes
import errno
import os
import platform
import resource
import struct
from collections.abc import Callable
from pathlib import Path

EXTRA_MEMORY = 896 * 2**20  # bytes of address space on top of what the libraries occupy
CPU_SECONDS = 600  # of a child's whole life
UNPRIVILEGED_ID = 65_534  # of the user nobody

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_CLONE_NEWUTS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x04000000, 0x08000000, 0x10000000, 0x40000000
_CAPABILITIES_V3 = 0x20080522

# linux/filter.h, linux/seccomp.h
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_AT_NUMBER, _AT_ARCHITECTURE = 0, 4
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column below, AUDIT_ARCH of linux/audit.h
# The system calls that are allowed: memory, the clock, and reading and writing of what is open already.
_CALLS = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "mremap": (25, 216), "madvise": (28, 233),
    "sched_yield": (24, 124), "nanosleep": (35, 101), "getpid": (39, 172), "exit": (60, 93),
    "getrusage": (98, 165), "gettimeofday": (96, 169), "sigaltstack": (131, 132), "gettid": (186, 178),
    "futex": (202, 98), "sched_getaffinity": (204, 123), "restart_syscall": (219, 128),
    "clock_gettime": (228, 113), "clock_nanosleep": (230, 115), "exit_group": (231, 94),
    "getrandom": (318, 278),
}  # fmt: skip


def confine() -> list[str]:
    """Apply every measure that this machine allows, for the rest of the process; returns the names of these.

    Everything that the process needs must be imported and opened before.
    """
    return [name for name, apply in MEASURES.items() if _succeeds(apply)]


def _succeeds(apply: Callable[[], None]) -> bool:
    try:
        apply()
    except (OSError, ValueError, AttributeError, KeyError):  # not permitted or not supported here
        return False
    return True


def _change_user() -> None:
    """RLIMIT_NPROC does not bind root, and root may read all files."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
        os.setresuid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)


def _unshare() -> None:
    """A user namespace without any user, and a network without any interface; no capability in either."""
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWUTS))
    header, no_capabilities = struct.pack("Ii", _CAPABILITIES_V3, 0), bytes(24)
    _check(libc.capset(header, no_capabilities))


def _limit() -> None:
    with Path("/proc/self/statm").open() as file:
        occupied = int(file.read().split()[0]) * resource.getpagesize()
    memory = occupied + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        resource.setrlimit(kind, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # open descriptors stay open, and no further one can be opened


def _renounce_privileges() -> None:
    _check(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _filter_calls() -> None:
    """Have every system call that is not listed fail with EPERM, even if a document takes control of the process."""
    column, architecture = _ARCHITECTURES[platform.machine()]
    numbers = [call[column] for call in _CALLS.values()]
    code = [
        _instruction(_LOAD, _AT_ARCHITECTURE),
        _instruction(_JUMP_EQUAL, architecture, if_true=1),
        _instruction(_RETURN, _KILL),  # 32-bit calls have other numbers
        _instruction(_LOAD, _AT_NUMBER),
    ]
    for position, number in enumerate(numbers):
        code.append(_instruction(_JUMP_EQUAL, number, if_true=len(numbers) - position))
    code += [_instruction(_RETURN, _REFUSE), _instruction(_RETURN, _ALLOW)]
    instructions = ctypes.create_string_buffer(b"".join(code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(instructions))
    _check(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0))


def _instruction(code: int, value: int, *, if_true: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, 0, value)


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# In this order: a namespace forbids the change of user, and the filter forbids all other measures.
MEASURES: dict[str, Callable[[], None]] = {
    "unprivileged user": _change_user,
    "user and network namespace": _unshare,
    "resource limits": _limit,
    "no_new_privs": _renounce_privileges,
    "seccomp filter": _filter_calls,
}
