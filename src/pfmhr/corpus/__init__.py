"""Pose corpora: many motion files in, one memory-mapped collection of unordered poses out."""

from pfmhr.corpus.building import add_to_corpus, build_corpus
from pfmhr.corpus.corpus import PoseCorpus
from pfmhr.corpus.items import BuildConfig
from pfmhr.corpus.subsets import make_subset

__all__ = ["BuildConfig", "PoseCorpus", "add_to_corpus", "build_corpus", "make_subset"]
