"""Everything broken at once, on real parts: and then the ledgers are read."""
