"""The attempts to get out of a sandboxed kernel behind scripts/escape.

attempts/ the attempts, as code          world.py the targets, with real parts
attempt.py    an attempt and its control      running.py  tries them in real kernels
prelude.py names that their code may use         __main__.py  prints a table
"""
