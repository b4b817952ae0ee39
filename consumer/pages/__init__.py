"""Pages about the catalogue, for people.

handbook    one page a mail and an index, as files: what upstream publishes, and what comes of it
preview     the mails while somebody writes them: a local site that reloads when a file changes
paper       the pages' own templates
"""
