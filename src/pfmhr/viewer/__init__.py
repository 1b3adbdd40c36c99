"""A page in the browser: motions with their scores, rollouts of trackers, and the modes of a prior."""
