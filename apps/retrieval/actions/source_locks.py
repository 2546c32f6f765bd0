"""What retrieval has to know of changes to sources that others make."""

from collections.abc import Collection

from apps.retrieval.models import Crawl, Schedule


def lock_sources(source_ids: Collection[int]) -> None:
    """Keep workers from storing anything of these sources until the transaction ends.

    A visit whose source is gone by then is dropped, as its schedule went with it.
    """
    list(Schedule.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))
    list(Crawl.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))


def read_anew(source_id: int) -> None:
    """After a change of how a source is read: the next answer counts even if it is the same as the latest."""
    Schedule.objects.filter(pk=source_id).update(etag="", last_modified="", body_hash=b"")
