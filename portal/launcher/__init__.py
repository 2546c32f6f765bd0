"""Starts and supervises the program: its virtual environment, servers, processes and temporary copies of them."""
