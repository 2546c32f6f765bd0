"""The index as values: documents, inverted segments, packed arrays, and decisions on building and merging."""
