"""What a kernel publishes: counted, and collected for runs and widgets."""
