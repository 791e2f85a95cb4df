"""Rows that live with other processes: the words that travel, and who holds the rows."""
