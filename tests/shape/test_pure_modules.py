"""Algorithms and formats import without any framework, database or network library at hand."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORBIDDEN = ["django", "celery", "psycopg", "aiohttp", "redis", "kombu"]

PROBE = """
import importlib, sys
for name in {forbidden}:
    sys.modules[name] = None
for name in {modules}:
    importlib.import_module(name)
"""


def pure_modules() -> list[str]:
    files = [*ROOT.glob("apps/*/algorithms/**/*.py"), *ROOT.glob("apps/*/formats/**/*.py")]
    return sorted(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files)


def test_pure_modules_import_where_no_framework_is_installed():
    modules = pure_modules()
    assert len(modules) > 20
    probe = PROBE.format(forbidden=FORBIDDEN, modules=modules)
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
