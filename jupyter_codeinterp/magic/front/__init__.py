"""What people see of a turn, and how they decide.

turn_front.py  from events to a screen      choose.py    which screen, and who is asked
notebook.py    outputs of a cell            widgets.py   buttons
terminal.py    plain text, and a prompt     harmless.py  text of the model, so that it does nothing
"""
