"""Revisions between stores: what one offers, what another receives, and how histories that went apart unite."""
