"""The studio: an interactive local page to search, pin and forbid columns.

`data` reads what the user chose, `bench` holds a session and does what pages ask of it, `server`
speaks HTTP and keeps strangers out, `launch` starts and ends it all.
"""
