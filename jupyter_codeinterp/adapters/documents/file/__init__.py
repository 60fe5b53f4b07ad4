"""The notebook as a file that nobody has open: ops go into it as into a window's copy.

document.py   takes frames as a window does; reads, applies, writes, answers
contents.py   the file through Jupyter's contents manager: checked, upgraded, versions
replacing.py  a file replaced in one step
view.py       the notebook as the model may see it, within bounds
"""

from .contents import ContentsFile
from .document import FileDocument

__all__ = ["ContentsFile", "FileDocument"]
