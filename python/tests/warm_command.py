"""An interpreter that has loaded the command line and runs each one that it is asked for in a fork of itself:
`python warm_command.py SOCKET`. A request is a JSON object with `words`, `folder` and `environment`, sent with the files for
standard output and error; it is answered by the number of the process, and by its exit code when it has ended. Has no threads,
so that a fork has all there is."""

import contextlib
import gc
import io
import json
import os
import socket
import sys

from trencadis.cli import main


def load_what_commands_load():
    with contextlib.redirect_stdout(io.StringIO()):
        main(["--help"])
        main(["list", "routines"])
    gc.freeze()  # the collector of a fork would copy all pages that it looks at


def run(request, streams):
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["trencadis", *request["words"]]
    sys.exit(main())


def serve(requests):
    while True:
        message, streams, _, _ = socket.recv_fds(requests, 1 << 24, 2)
        if not message:
            return
        child = os.fork()
        if child == 0:
            requests.close()
            run(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        requests.sendall(b"%d\n" % child)
        requests.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


load_what_commands_load()
serve(socket.socket(fileno=int(sys.argv[1])))
