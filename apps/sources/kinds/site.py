from apps.sources.kinds import SourceKind, gettext_noop

KIND = SourceKind(label=gettext_noop("Web site, crawled"), is_crawled=True)
