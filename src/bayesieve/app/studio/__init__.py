"""The studio: a page on this machine on which an expert sieves by hand and eye.

`table` and `seriesfile` read what the user chose, `looks` describes columns, `bench` holds a
session and does what pages ask, `telling` tells them what changed, `views` shows the model,
`ruling` makes a rule for its decisions, `exports` writes what comes out, `uploads` takes files in,
`guard` keeps strangers out, `server` speaks HTTP, `launch` starts and ends it all.
"""
