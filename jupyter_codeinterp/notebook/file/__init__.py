"""The notebook as a file that nobody has open: ops go into it as into a window's copy.

document.py    takes frames as a window does; reads, applies, writes, answers
contents.py    the file through Jupyter's contents manager: checks, format, ids, versions
swap.py        replaces a file in one step, if nobody else has changed it

The marker of a notebook's ops, and its view for the model, are in ``notebook/content.py``.
"""

from .contents import ContentsFile
from .document import FileDocument

__all__ = ["ContentsFile", "FileDocument"]
