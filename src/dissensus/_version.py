"""The version, alone in its file so that building the package needs no import of it."""

__version__ = "0.2.0"
