"""The advisory lock for grouping."""

GROUPING = 0x5354_4F52
