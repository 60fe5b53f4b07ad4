"""What is kept from the model: keys, and the values of private variables."""
