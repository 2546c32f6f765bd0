"""Starts and supervises the program: its virtual environment, servers, processes and throw-away copies of them."""
