"""Who may group postings: one at a time, by `take`."""

GROUPING = 0x5354_4F52
