"""Random programs of whole Python, eager against compiled, in everything that can be observed.

writer.py       text from typed templates: holes, scopes, blocks
expressions.py  the templates of expressions
statements.py   the templates of statements: simple_, holder_ and compound_statements.py
definitions.py  which classes, functions and globals a program needs, of library.py and
                derived_classes.py
changes.py      what is done to the world between two calls, and to their arguments
program.py      a seed's program
describing.py   a graph of objects as plain data, with identity
worlds.py       a program in a namespace of its own, called again and again
comparing.py    the eager world beside the compiled one
shrinking.py    the smallest program that still shows it
campaign.py     thousands of them, with a summary
"""
