"""The studio: a page on this machine on which an expert sieves by hand and eye.

`data` reads what the user chose, `bench` holds a session and does what pages ask of it, `server`
speaks HTTP and keeps strangers out, `launch` starts and ends it all.
"""
