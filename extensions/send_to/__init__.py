"""Services that keep or show articles elsewhere."""
