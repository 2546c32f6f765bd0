"""Helpers for Postgres beyond what Django offers."""
