"""A Postgres server shared by a team: roles, and the seals that hold its writers to complete revisions."""
