"""What is asked, and what goes with it. Light: nothing of the agent is imported here.

options.py   the magic's line             typed.py     what a person has typed
earlier.py   cells before, last error     interpolation.py   ``{name}`` in a prompt
"""
