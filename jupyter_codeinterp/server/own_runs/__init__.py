"""Outputs of cells that people run themselves, for when their page closes during the run.

own_runs.py    which runs, and whether their page still follows them
delivery.py    brings one run's outputs into the notebook, in a window or in its file
lost_runs.py   what to tell people after the server stopped during such a run
"""

from .delivery import OWN
from .lost_runs import LostRuns
from .own_runs import OwnRuns

__all__ = ["OWN", "LostRuns", "OwnRuns"]
