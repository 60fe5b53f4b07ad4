"""The prompt and its context. Imports nothing of the agent, to load quickly.

options.py   the magic's line
typed.py     whether a person typed the magic
earlier.py   earlier cells
"""
