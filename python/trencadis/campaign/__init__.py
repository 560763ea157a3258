"""Campaigns: runs over all combinations of factors' levels, in an order by chance, kept on the disk one by one.

plan.py reads the file and says which runs in which order; store.py keeps what came out; runs.py makes a run, here or on a
described machine; levers.py sets what belongs to the machine and puts it back; state.py says how the machine was meanwhile.
"""
