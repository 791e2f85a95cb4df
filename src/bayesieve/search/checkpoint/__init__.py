"""Searches that go on where they were stopped."""
