"""What can be drawn, before anything is drawn."""
