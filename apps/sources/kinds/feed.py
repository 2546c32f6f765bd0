from apps.sources.formats.feed_recipes import amended_feed
from apps.sources.kinds import SourceKind, gettext_noop

KIND = SourceKind(
    label=gettext_noop("Feed (RSS, Atom or JSON Feed)"),
    help=gettext_noop("A feed needs none of these. They are XPaths that begin at its items."),
    fields=("image",),
    read=amended_feed,
    is_feed=True,
)
