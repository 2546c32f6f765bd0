"""The job that indexes all postings again, as after a change of the analysis."""

from django.utils.translation import gettext_lazy as _

from apps.jobs.kinds import Beat, Kind, Parameters, Piece, Stage, Write, register
from apps.search import actions
from apps.search.algorithms.index.levels import MIDDLE
from apps.search.queries.spans import KIND, spans


def _read(span: Parameters, beat: Beat) -> Write:
    reading = actions.reindexing.analyse_span(span, beat)
    return lambda: actions.reindexing.replace_span(reading)


def _build_segments() -> None:
    """Build only larger segments; the last documents wait for the end of the job."""
    actions.segment_building.maintain(at_least=MIDDLE)


def _settle(_: Parameters, beat: Beat) -> Write:
    actions.segment_building.finish(beat)
    return dict


register(
    Kind(
        KIND,
        _("Rebuild search index"),
        _("articles"),
        Stage(_read, lambda _: spans()),
        reduce=Stage(_settle, lambda _: [Piece({}, 0, 1.0)]),
        in_order=True,
        after_split=_build_segments,
    )
)
