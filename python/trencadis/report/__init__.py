"""What a campaign says: read.py takes its runs apart into groups that may be compared, findings.py computes tables of them,
pictures.py and gantt.py draw, pages.py writes them down.
"""
