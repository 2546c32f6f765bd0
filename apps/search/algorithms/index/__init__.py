"""The index as values: documents, their inversion, packed arrays, and which of them to seal and merge."""
