"""The only writers of recommendations. Each takes on a bounded amount, and may be called twice."""

from apps.recommendations.actions.dismissing import dismiss
from apps.recommendations.actions.learning import learn_likenesses, measure_growth
from apps.recommendations.actions.matching import match_people, sketch_sources
