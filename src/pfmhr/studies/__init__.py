"""Studies: one file per question of the paper, each rerun by one command."""
