"""Random programs that read the world around them, and random changes of that world.

    places.py, more_places.py    what there is to read, how, and how it changes
    world.py     one seed's module, program and changes
    seeing.py    what a call gave, as plain data
    campaign.py  eager beside compiled after each change; thousands of them
"""
