"""NumPy and SciPy, which the results are compared with, calculate on one thread: their pools spin, and beside our workers on
a busy machine a product of two small matrices would take seconds. Set before anybody loads them."""

import os
import signal

# Whoever starts the tests in the background may have told them to ignore Ctrl-C, and children would inherit that; some tests
# are about what Ctrl-C does.
signal.signal(signal.SIGINT, signal.default_int_handler)

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
