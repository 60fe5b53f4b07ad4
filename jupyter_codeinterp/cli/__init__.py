"""The command line, ``jupyter codeinterp``, for people in a terminal and for programs.

main.py, arguments.py   commands and exit codes
commands/               one file per command
terminal/               output, questions and interrupts
local/                  notebooks and kernels without a server
"""
