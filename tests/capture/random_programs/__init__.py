"""Random programs of whole Python, eager against compiled, in everything that can be observed.

writer.py       text from typed templates: holes, scopes, blocks
expressions.py  the templates of expressions
statements.py   the templates of statements
definitions.py  classes, functions and globals that programs use
program.py      a seed's program
describing.py   a graph of objects as plain data, with identity
worlds.py       a program in a namespace of its own, called again and again
comparing.py    the eager world beside the compiled one
shrinking.py    the smallest program that still shows it
campaign.py     thousands of them, with a summary
"""
