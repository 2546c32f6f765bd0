"""The only writers of the index."""

from apps.search.actions import dictionary, reindexing, segment_building
