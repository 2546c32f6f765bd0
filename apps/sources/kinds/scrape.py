from apps.sources.formats.podcast_pages import follow
from apps.sources.kinds import SourceKind, gettext_noop

KIND = SourceKind(
    label=gettext_noop("Podcast on web pages, by following links"),
    help=gettext_noop("The last page is the one that names the recording; the other paths are XPaths on it."),
    fields=("more", "title", "description", "date", "image"),
    required=("more",),
    read=follow,
    is_page=True,
)
