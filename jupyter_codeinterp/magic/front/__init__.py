"""Shows a turn to people and asks for their decisions.

turn_front.py  from events to a screen      choose.py    chooses screen and review
notebook.py    outputs of a cell            widgets.py   buttons
terminal.py    plain text and a prompt      harmless.py  makes the model's text safe to show
"""
