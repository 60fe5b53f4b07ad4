"""What happened, as the journal has it: events, changes to cells, and what is made of them."""
