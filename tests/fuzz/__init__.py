"""Hostile files by structure: each begins as a valid file of its kind and suffers up to four changes.

``python -m tests.fuzz.run --kind npz --cases 20000 --seed 3`` searches; with ``--only 17`` it shows one case again.
"""
