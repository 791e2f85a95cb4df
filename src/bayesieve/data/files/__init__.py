"""Tables in files, read and written."""
