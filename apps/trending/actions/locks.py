"""Who may write which table at a time, by `take`."""

COUNTING, SLICING, LISTING = 0x5452_4501, 0x5452_4502, 0x5452_4503
