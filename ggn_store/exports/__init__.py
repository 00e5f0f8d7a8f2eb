"""Exports: the views as files for notebooks and other programs, in a directory that tells what is in it."""
