"""What everything that asks a store needs first: its session, who asks, and a quiet collector."""
