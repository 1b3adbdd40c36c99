"""Benchmarks: anyone can rerun them, and times are compared within one run."""
