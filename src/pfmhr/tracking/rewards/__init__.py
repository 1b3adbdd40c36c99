"""Tracking rewards: how well a robot follows its reference."""
