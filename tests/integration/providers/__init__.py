"""One conformance suite for every adapter, against strict doubles that count."""
