"""One module per motion file format. Each says what it looks like, how to read it, how to write it."""

from pfmhr.motion.formats.catalogue import Clip, Format, read_clips, write_motion

__all__ = ["Clip", "Format", "read_clips", "write_motion"]
