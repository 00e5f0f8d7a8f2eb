"""The web: pages about the store, a file each, with JSON beside them; like the command line, a face upon `api`.

Read-only, unless the server is told who people are, who then can review. Only this room imports Starlette, uvicorn and
Jinja2, which the extra [web] installs.
"""
