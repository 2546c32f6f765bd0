"""How many partitions there are of all sites; see `addresses.partition`."""

PARTITIONS = 64  # far more than there are hosts, so that some may come and go
