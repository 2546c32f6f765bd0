"""Runs a module as a program that can sleep under libfaketime, which refuses how Python 3.11 and newer do."""

import runpy
import select
import sys
import time
from typing import SupportsIndex


def sleep(seconds: SupportsIndex | float) -> None:
    select.select([], [], [], float(seconds))


if __name__ == "__main__":
    time.sleep = sleep
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
