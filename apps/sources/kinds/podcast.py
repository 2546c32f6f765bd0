from dataclasses import replace

from apps.sources.kinds import feed, gettext_noop

KIND = replace(feed.KIND, label=gettext_noop("Podcast with a feed"), fields=("link", "image"))
