"""A peer's process that does one job after the other: `python peer_jobs.py PEER`, with a job as JSON on each line of standard
input, each answered by the seconds of a run and its residual. Otherwise as trencadis.peer_process."""

import json
import sys

from trencadis.measure import Job, Vendor
from trencadis.peer_process import contend, open_peer, reply


def work(replies):
    library, _ = open_peer(sys.argv[1], 1, replies)
    for line in sys.stdin:
        vendor = Vendor(library, Job(**json.loads(line)))
        reply(replies, {"seconds": vendor.run().seconds, "residual": vendor.residual()})


contend(work)
