"""Jobs over a whole archive, by one worker and by several: what they take, and whether they come to the same."""
