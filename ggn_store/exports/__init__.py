"""Exports: the views as CSV and SQLite files, and the directory of any export, which tells what is in it.

Parquet and DuckDB files are written in `columnar.view_files`.
"""
