"""What measuring and proving the index shares: archives to fill it with, questions to ask, work without end."""
