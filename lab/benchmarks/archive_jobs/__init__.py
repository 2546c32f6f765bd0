"""Jobs over a whole archive, by one worker and by several: their cost, and whether their results are equal."""
