"""A notebook's content for the documents that the server itself holds (a file, a room).

marker.py  which ops a notebook holds
view.py    the notebook as the model may see it, within bounds
"""
