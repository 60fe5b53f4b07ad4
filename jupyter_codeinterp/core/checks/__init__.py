"""Checks of the agent's runs: facts about the code and about what the run did."""
