"""Whether a portal whose parts die ends with the same tables as a serial run over the same replay."""
