"""A session: a table that stays in memory while a person sieves its columns."""
