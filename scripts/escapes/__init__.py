"""The attempts to get out of a sandboxed kernel behind scripts/escape.

attempts/     what is tried, as code          world.py    what there is to reach, with real parts
attempt.py    an attempt and its control      running.py  tries them in real kernels
prelude.py    what their code may use         __main__.py  prints a table
"""
