"""What one turn works with: its services, its bounds, how it ends."""
