"""Writers of counts, slices and lists; all idempotent and crash-safe."""

from apps.trending.actions.counting import COUNTED_AT_ONCE, count
from apps.trending.actions.labelling import StoryLabel, label
from apps.trending.actions.listing import list_terms, refresh
from apps.trending.actions.pruning import prune
from apps.trending.actions.slicing import SLICED_AT_ONCE, slice_stale
