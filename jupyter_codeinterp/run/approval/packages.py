"""Tells the model which package contains a missing module."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection

# -------------------------------------------------------------------------------------------------
# The package of a missing Python module: from the table, else assumed to have the module's name.

_MISSING = re.compile(r"No module named '([A-Za-z_][A-Za-z0-9_]{0,60})(?:[.'])")

PACKAGES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "Bio": "biopython",
    "community": "python-louvain",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "github": "PyGithub",
    "google": "google-api-python-client",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "Levenshtein": "python-Levenshtein",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "MySQLdb": "mysqlclient",
    "nacl": "PyNaCl",
    "OpenSSL": "pyOpenSSL",
    "osgeo": "GDAL",
    "PIL": "pillow",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pylab": "matplotlib",
    "serial": "pyserial",
    "shapefile": "pyshp",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "telegram": "python-telegram-bot",
    "umap": "umap-learn",
    "usb": "pyusb",
    "win32com": "pywin32",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
"""Package names by the name of the module."""


def missing_module(message: str) -> str:
    """The top-level module that a ``ModuleNotFoundError`` names; "" if none, or if it belongs to
    Python itself."""
    match = _MISSING.match(message)
    return match[1] if match and match[1] not in sys.stdlib_module_names else ""


def package_of(module: str) -> str:
    return PACKAGES.get(module, module.replace("_", "-"))


def hint(message: str, local: Collection[str]) -> str:
    """A line for the model on the package to install; "" if none. ``local``: modules beside the
    notebook."""
    module = missing_module(message)
    if not module or module in local:
        return ""
    return (
        f"{module} is probably in the package {package_of(module)}. If the work needs it, call "
        f"run_cell with `%pip install {package_of(module)}` alone: the person decides. Then run "
        "the failed cell again with run_cells."
    )
