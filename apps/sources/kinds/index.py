from apps.sources.kinds import SourceKind, gettext_noop

KIND = SourceKind(
    label=gettext_noop("Index page of a crawled website"), is_crawled=True, is_page=True, is_offered=False
)
