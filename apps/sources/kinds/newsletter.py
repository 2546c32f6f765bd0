from apps.sources.kinds import SourceKind, gettext_noop

KIND = SourceKind(label=gettext_noop("Newsletter by mail"), is_offered=False, is_retrieved=False)
