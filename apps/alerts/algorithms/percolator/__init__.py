"""Percolator: matches each new posting with the few saved searches that it may answer."""
