"""The studio: a page on this machine on which an expert sieves by hand and eye.

`table` reads what the user chose, `looks` describes columns, `bench` holds a session and tells
pages what changed, `exports` writes what comes out, `guard` keeps strangers out, `server` speaks
HTTP, `launch` starts and ends it all.
"""
