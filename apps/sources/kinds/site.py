from apps.sources.kinds import SourceKind, gettext_noop

KIND = SourceKind(label=gettext_noop("Website, crawled"), is_crawled=True)
