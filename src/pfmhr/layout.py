"""Names of files and places: what lies where in the directories that we write."""

CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
"""A trained network: what it is, its weights, and a page for people."""
HUB = "hf:"
"""In front of a repository's name: only then is Hugging Face asked."""
RUN, RESULT, EPISODES = "run.json", "result.json", "episodes.npz"
"""A training run: its settings; its result, once it is finished; errors of every frame of its last evaluation."""
