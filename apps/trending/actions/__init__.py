"""Writers of counts, slices and lists; all idempotent and crash-safe."""

from apps.trending.actions.listing import StoryLabel, label, list_terms, refresh
from apps.trending.actions.slicing import COUNTED_AT_ONCE, SLICED_AT_ONCE, count, prune, slice_stale
