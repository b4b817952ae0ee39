"""One business event in, exactly one email out."""

__version__ = "0.1.0"
