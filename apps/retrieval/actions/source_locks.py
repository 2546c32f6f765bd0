"""Effects on retrieval of changes to sources that other apps make."""

from collections.abc import Collection

from apps.retrieval.models import Crawl, Schedule


def lock_sources(source_ids: Collection[int]) -> None:
    """Keep workers from storing anything of these sources until the transaction ends.

    The result of a retrieval whose source is deleted by then is dropped, as its schedule is deleted, too.
    """
    list(Schedule.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))
    list(Crawl.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))


def read_anew(source_id: int) -> None:
    """Have the next response parsed even if it equals the latest, after a change of how a source is read."""
    Schedule.objects.filter(pk=source_id).update(etag="", last_modified="", body_hash=b"")
