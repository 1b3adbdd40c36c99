"""One module per motion file format. Each says what it looks like, how to read it, how to write it."""

from pfmhr.motion.formats.catalogue import BY_SUFFIX, Clip, Format, read_clips, write_motion

__all__ = ["BY_SUFFIX", "Clip", "Format", "read_clips", "write_motion"]
