"""Documents are kept once, read as they came, forgotten in time and never lost in between."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import InvalidStorageError, storages
from django.db import connection
from time_machine import travel

from apps.documents import tasks
from apps.documents.actions import BATCH, MAX_DOCUMENT_BYTES, DocumentTooLarge, forget_expired, keep, scrub, sweep
from apps.documents.algorithms.packing import hash_of, path_of
from apps.documents.models import RawDocument
from apps.documents.queries import DocumentDamaged, DocumentLost, read
from tests.builders import NOON

PAGE = b"<!doctype html><title>News</title>" + b"<p>Words.</p>" * 100
DAY = timedelta(days=1)
FILES = "django.core.files.storage.FileSystemStorage"
MEMORY = "django.core.files.storage.InMemoryStorage"

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["on disk", "in memory"], autouse=True)
def storage(request, settings, tmp_path):
    on_disk = {"BACKEND": FILES, "OPTIONS": {"location": str(tmp_path)}}
    chosen = on_disk if request.param == "on disk" else {"BACKEND": MEMORY}
    settings.STORAGES = settings.STORAGES | {"documents": chosen}
    return storages["documents"]


def keep_page(body=PAGE, **values):
    return keep(body, **{"url": "https://news.example/1", "content_type": "text/html", "now": NOON} | values)


def all_files(storage, folder=""):
    folders, files = storage.listdir(folder)
    below = [file for name in folders for file in all_files(storage, f"{folder}/{name}".strip("/"))]
    return sorted([*below, *(f"{folder}/{name}" for name in files)])


def hour_of(digest, after):
    """The first full hour after a time in which the folder of a document is swept."""
    hour = after.replace(minute=0, second=0, microsecond=0)
    while int(hour.timestamp() // 3_600) % 256 != digest[0]:
        hour += timedelta(hours=1)
    return hour


def test_a_document_is_read_as_it_came(storage):
    found = read(keep_page())
    assert (found.body, found.content_type, found.url) == (PAGE, "text/html", "https://news.example/1")


def test_a_file_is_named_by_the_hash_and_small(storage):
    digest = keep_page()
    assert all_files(storage) == [path_of(hash_of(PAGE))]
    row = RawDocument.objects.get(pk=digest)
    assert (row.size, row.stored_size) == (len(PAGE), storage.size(path_of(digest)))
    assert row.stored_size < row.size / 5
    assert row.expires_at == NOON + 30 * DAY


def test_the_same_bytes_are_one_document_until_the_later_day(storage):
    first = keep_page(days=5)
    assert keep_page(url="https://other.example/", days=9) == first
    assert keep_page(days=1) == first
    assert len(all_files(storage)) == 1
    row = RawDocument.objects.get()
    assert (row.expires_at, row.url) == (NOON + 9 * DAY, "https://news.example/1")


def test_an_empty_document_is_one():
    assert read(keep_page(b"")).body == b""


def test_a_document_of_ten_megabytes_is_kept_and_one_byte_more_is_refused(storage):
    assert len(read(keep_page(bytes(MAX_DOCUMENT_BYTES))).body) == MAX_DOCUMENT_BYTES
    with pytest.raises(DocumentTooLarge, match=r"at https://news.example/1 has 10,485,761 bytes; at most 10,485,760"):
        keep_page(bytes(MAX_DOCUMENT_BYTES + 1))
    assert RawDocument.objects.count() == len(all_files(storage)) == 1


def test_reading_an_unstored_page_fails_with_its_hash():
    with pytest.raises(DocumentLost, match=f"{hash_of(PAGE).hex()[:12]} is not kept"):
        read(hash_of(PAGE))


def test_missing_file_is_reported_and_restored_by_storing_again(storage):
    digest = keep_page()
    storage.delete(path_of(digest))
    with pytest.raises(DocumentLost, match=r"of https://news.example/1 is missing from the storage"):
        read(digest)
    keep_page()
    assert read(digest).body == PAGE


@pytest.mark.parametrize(
    ("stored", "how"), [(b"", "does not hold 1,334 bytes"), (b"nonsense", "not gzip"), (b"\x1f\x8b" * 9, "not gzip")]
)
def test_damaged_file_is_reported_and_replaced_by_storing_again(storage, stored, how):
    digest = keep_page()
    storage.delete(path_of(digest))
    storage.save(path_of(digest), ContentFile(stored))
    with pytest.raises(DocumentDamaged, match=how):
        read(digest)
    keep_page()
    assert read(digest).body == PAGE
    assert len(all_files(storage)) == 1


def damage(storage, digest):
    """Turn a bit of a file's checksum: it keeps its size."""
    with storage.open(path_of(digest)) as file:
        stored = file.read()
    storage.delete(path_of(digest))
    storage.save(path_of(digest), ContentFile(stored[:-6] + bytes([stored[-6] ^ 1]) + stored[-5:]))


def body_in_folder(number, word):
    return next(body for each in count() if hash_of(body := b"%s %d" % (word, each))[0] == number)


def test_damage_of_the_same_length_is_healed_when_the_page_is_kept_again(storage):
    digest = keep_page()
    damage(storage, digest)
    with pytest.raises(DocumentDamaged):
        read(digest)
    keep_page()
    assert read(digest).body == PAGE


def test_a_scrub_reports_damaged_and_lost_documents_of_a_folder_until_they_are_healed(storage, caplog):
    bodies = [body_in_folder(255, word) for word in (b"whole", b"damaged", b"lost")]
    whole, damaged, lost = map(keep_page, bodies)
    hour = hour_of(whole, NOON)
    for digest in (damaged, keep_page(body_in_folder(254, b"of another hour"))):
        damage(storage, digest)
    storage.delete(path_of(lost))
    assert scrub(now=hour) == 2
    assert damaged.hex() in caplog.text
    assert lost.hex() in caplog.text
    reported = RawDocument.objects.exclude(damaged_at=None).values_list("pk", flat=True)
    assert set(map(bytes, reported)) == {damaged, lost}
    for body in bodies:
        keep_page(body)
    assert not RawDocument.objects.exclude(damaged_at=None).exists()
    assert scrub(now=hour) == 0


def test_documents_are_forgotten_when_their_time_is_over_and_not_before(storage):
    early, late = keep_page(days=1), keep_page(b"later", days=2)
    assert forget_expired(now=NOON + DAY - timedelta(seconds=1)) == 0
    assert forget_expired(now=NOON + DAY) == 1
    assert forget_expired(now=NOON + DAY) == 0
    with pytest.raises(DocumentLost):
        read(early)
    assert read(late).body == b"later"
    assert all_files(storage) == [path_of(late)]


def test_more_than_a_batch_is_forgotten_at_once(monkeypatch):
    monkeypatch.setattr("apps.documents.actions.BATCH", 3)
    assert BATCH > 3
    for number in range(10):
        keep_page(b"%d" % number, days=1)
    assert forget_expired(now=NOON + DAY) == 10
    assert not RawDocument.objects.exists()


def test_a_file_that_the_storage_does_not_let_go_of_keeps_no_other(storage, monkeypatch, caplog):
    stuck, loose = keep_page(days=1), keep_page(b"loose", days=1)
    with monkeypatch.context() as patch:
        patch.setattr(type(storage), "delete", _refusing(type(storage).delete, path_of(stuck)))
        assert forget_expired(now=NOON + DAY) == 1
    assert stuck.hex() in caplog.text
    assert read(stuck).body == PAGE
    with pytest.raises(DocumentLost):
        read(loose)
    assert forget_expired(now=NOON + DAY) == 1


def _refusing(delete, wanted):
    def refuse(self, name):
        if name == wanted:
            raise PermissionError(name)
        delete(self, name)

    return refuse


def crash(*_arguments, **_options):
    raise RuntimeError("the machine stops here")


def test_a_crash_before_the_row_leaves_a_file_that_is_swept_after_a_day(storage, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(RawDocument, "save", crash)
        with pytest.raises(RuntimeError, match="stops here"):
            keep_page()
    digest = hash_of(PAGE)
    beside = next(body for number in range(5_000) if hash_of(body := b"%d" % number)[0] == digest[0])
    keep_page(beside)
    foreign = storage.save(f"{path_of(digest)[:6]}README", ContentFile(b"not ours"))
    hour = hour_of(digest, NOON)
    monkeypatch.setattr(type(storage), "get_modified_time", lambda *_: hour - timedelta(hours=24))
    assert sweep(now=hour - timedelta(seconds=1)) == 0  # another folder's turn
    assert sweep(now=hour) == 0  # just too young: its row may still be written
    assert sweep(now=hour + timedelta(seconds=1)) == 1
    assert sweep(now=hour + timedelta(seconds=1)) == 0
    assert all_files(storage) == sorted([path_of(hash_of(beside)), foreign])


def test_file_truncated_by_a_crash_is_overwritten(storage):
    storage.save(path_of(hash_of(PAGE)), ContentFile(b"\x1f\x8b half a file"))
    assert read(keep_page()).body == PAGE
    assert len(all_files(storage)) == 1


def test_a_storage_that_takes_another_name_is_no_place_for_documents(storage, monkeypatch):
    save = type(storage).save
    monkeypatch.setattr(type(storage), "save", lambda self, name, content: save(self, f"{name}_x7", content))
    with pytest.raises(OSError, match="something else writes there"):
        keep_page()
    assert not RawDocument.objects.exists()
    assert all_files(storage) == []


def test_every_folder_has_its_hour():
    hours = {int((NOON + timedelta(hours=hour)).timestamp() // 3_600) % 256 for hour in range(256)}
    assert hours == set(range(256))


def test_a_storage_that_is_not_installed_stops_the_start(settings):
    settings.STORAGES = settings.STORAGES | {"documents": {"BACKEND": "storages.backends.nowhere.Storage"}}
    with pytest.raises(InvalidStorageError, match="nowhere"):
        apps.get_app_config("documents").ready()


def test_the_hourly_task_forgets_and_sweeps(storage):
    digest = keep_page(days=1)
    orphan = hash_of(b"orphan")
    storage.save(path_of(orphan), ContentFile(b"orphan"))
    with travel(hour_of(orphan, datetime.now(UTC) + 2 * DAY), tick=False):
        tasks.tidy_documents()
    assert not RawDocument.objects.filter(pk=digest).exists()
    assert all_files(storage) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", ["forgotten", "swept"])
def test_a_document_kept_again_while_its_file_is_deleted_is_not_lost(storage, monkeypatch, other):
    if other == "forgotten":
        digest = keep_page(days=1)
    else:
        digest = hash_of(PAGE)
        storage.save(path_of(digest), ContentFile(b"what a crash left"))
    deleting, go_on = threading.Event(), threading.Event()
    delete = type(storage).delete

    def slow_delete(self, name):
        if threading.current_thread() is remover:
            deleting.set()
            assert go_on.wait(10)
        delete(self, name)

    def remove():
        now = hour_of(digest, datetime.now(UTC) + 2 * DAY)
        (forget_expired if other == "forgotten" else sweep)(now=now)
        connection.close()

    def keep_again():
        keep_page(now=datetime.now(UTC) + 2 * DAY)
        connection.close()

    remover, storer = threading.Thread(target=remove), threading.Thread(target=keep_again)
    monkeypatch.setattr(type(storage), "delete", slow_delete)
    remover.start()
    assert deleting.wait(10)
    storer.start()
    storer.join(0.3)
    assert storer.is_alive()  # it waits for the end of the deletion
    go_on.set()
    remover.join(10)
    storer.join(10)
    assert read(digest).body == PAGE


@pytest.mark.django_db(transaction=True)
def test_many_keep_one_document_at_once(storage):
    start = threading.Barrier(6)

    def keep_one():
        start.wait(10)
        keep_page()
        connection.close()

    threads = [threading.Thread(target=keep_one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert RawDocument.objects.count() == len(all_files(storage)) == 1
    assert read(hash_of(PAGE)).body == PAGE


def test_other_accounts_of_the_machine_cannot_read_documents(storage, tmp_path):
    keep_page()
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes in ({True: 0o700, False: 0o600}, {})  # in memory there are no files
