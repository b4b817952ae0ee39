"""Shadow mode: everything but claiming and sending, beside the sender that is still at work.

walking.py      a record to a note of what would have become of it
starting.py     what runs, and what does not
comparing.py    the notes against a list of what the other sender sent
"""
