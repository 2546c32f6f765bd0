"""The cache of migrated clusters."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab import clusters
from portal.launcher import embedded


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one migration, and a cache of its own."""
    root = tmp_path / "checkout"
    for name in clusters.MADE_BY:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clusters.ROOT / name, root / name)
    (root / "apps" / "news" / "migrations").mkdir(parents=True)
    (root / "apps" / "news" / "migrations" / "0001_initial.py").write_text("fields = 1\n")
    monkeypatch.setattr(clusters, "ROOT", root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


class Maker:
    """Makes folders with one file, and counts them."""

    def __init__(self):
        self.made = 0

    def __call__(self, data):
        self.made += 1
        (data / "base").mkdir(parents=True)
        (data / "base" / "1").write_text(f"cluster {self.made}")


def test_a_cluster_is_made_once_and_copied_afterwards(checkout, tmp_path):
    maker = Maker()
    for name in ("one", "other"):
        clusters.copy(tmp_path / name, make=maker)
        assert (tmp_path / name / "base" / "1").read_text() == "cluster 1"
    assert maker.made == 1
    (tmp_path / "one" / "base" / "1").write_text("changed by a test")
    clusters.copy(tmp_path / "third", make=maker)
    assert (tmp_path / "third" / "base" / "1").read_text() == "cluster 1"


def test_commands_that_need_it_at_once_make_it_once(checkout, tmp_path):
    maker, together = Maker(), threading.Barrier(4)

    def copy(number):
        together.wait()
        clusters.copy(tmp_path / str(number), make=maker)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(copy, range(4)))
    assert maker.made == 1


@pytest.mark.parametrize("name", ["apps/news/migrations/0001_initial.py", *clusters.MADE_BY])
def test_a_change_of_what_makes_it_needs_another_cluster(checkout, name):
    before = clusters.key()
    assert clusters.key() == before
    with (checkout / name).open("a") as file:
        file.write("# changed\n")
    assert clusters.key() != before


def test_an_added_migration_and_another_postgres_need_another_cluster(checkout, tmp_path, monkeypatch):
    before = clusters.key()
    (checkout / "apps" / "news" / "migrations" / "0002_more.py").write_text("")
    assert before != (after := clusters.key())
    (tmp_path / "postgres").write_text("another build")
    monkeypatch.setattr(embedded, "postgres_programs", lambda: tmp_path)
    assert clusters.key() != after


def test_nothing_is_kept_of_a_failed_attempt(checkout, tmp_path):
    def fail(data):
        (data / "base").mkdir(parents=True)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        clusters.copy(tmp_path / "data", make=fail)
    assert not (tmp_path / "data").exists()
    clusters.copy(tmp_path / "data", make=Maker())
    assert (tmp_path / "data" / "base" / "1").read_text() == "cluster 1"


def test_the_least_recently_used_clusters_are_removed(checkout, tmp_path):
    maker, keys = Maker(), []
    for number in range(clusters.MAX_CLUSTERS + 2):
        (checkout / "apps" / "news" / "migrations" / "0001_initial.py").write_text(f"fields = {number}\n")
        keys.append(clusters.key())
        clusters.copy(tmp_path / str(number), make=maker)
    kept = {path.name for path in (tmp_path / "cache" / "wirebeat" / "clusters").iterdir() if path.is_dir()}
    assert kept == set(keys[-clusters.MAX_CLUSTERS :])


def test_without_a_folder_for_the_cache_each_cluster_is_made(checkout, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    maker = Maker()
    for name in ("one", "other"):
        clusters.copy(tmp_path / name, make=maker)
    assert maker.made == 2
