"""The command line, ``jupyter codeinterp``: a front for people in a terminal and for programs.

main.py, arguments.py   which command, and what its end means to a shell
commands/               one file a command
terminal/               what is shown and asked, and how one is interrupted
local/                  notebooks, kernels and settings without a server
"""
