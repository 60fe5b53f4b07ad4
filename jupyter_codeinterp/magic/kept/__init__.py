"""Answers that a person took, used again while prompt and values are the same.

answer.py   what is kept, and how it comes from a turn's events
folder.py   where it is kept: the person's own data folder, never the notebook
model.py    plays it in the conversation, in place of a model
"""
