"""The pages, a file for each subject; `routes` lists them."""
