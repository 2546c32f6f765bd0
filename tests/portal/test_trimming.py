"""Memory that is returned to the kernel."""

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from portal.launcher.processes import trim_memory

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import re
import numpy, lxml.html
from portal.launcher.processes import trim_memory

def of_files():
    with open("/proc/self/status") as status:
        return int(re.search(r"RssFile:\\s+(\\d+)", status.read())[1])

before = of_files()
trim_memory()
assert of_files() < 0.7 * before, (before, of_files())
assert numpy.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 4.0]).tolist() == [1.0, 1.0]
assert lxml.html.fromstring("<p>news").text == "news"
"""

OF_TASKS = """
import psutil
from portal.celery import return_memory

def resident_after_a_large_task():
    kept = [bytes(50_000) for _ in range(2_000)][-1]  # 100 MB below it are free
    return_memory()
    return psutil.Process().memory_info().rss - len(kept)

first, second = resident_after_a_large_task(), resident_after_a_large_task()
assert second - first > 50_000_000, "returned twice within a minute"
"""


def test_memory_that_a_large_task_has_freed_is_returned_once_a_minute():
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings"}
    subprocess.run([sys.executable, "-c", OF_TASKS], check=True, cwd=ROOT, env=environment, timeout=60)


def test_pages_of_libraries_are_unmapped_and_read_again():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, cwd=ROOT, timeout=60)


@pytest.mark.parametrize(
    ("loading", "unused"),
    [
        (
            "from portal.launcher import bootstrap, commands, up",
            {"dataclasses", "django", "email", "hashlib", "inspect", "ssl"},
        ),
        ("import django; django.setup(); import portal.wsgi", {"django.test", "scipy", "unittest"}),
    ],
)
def test_no_process_loads_large_modules_that_it_does_not_use(loading, unused):
    program = f"import sys; {loading}; print(*{unused} & set(sys.modules))"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


def test_what_was_written_to_a_mapping_stays(tmp_path):
    (tmp_path / "file").write_bytes(b"old" * 10_000)
    with open(tmp_path / "file", "r+b") as file:
        mapping = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    mapping[:3] = b"new"
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(len(mapping)), mmap.PROT_READ) == 0
    trim_memory()
    assert mapping[:6] == b"newold"
