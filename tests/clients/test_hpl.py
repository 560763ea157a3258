"""HPL, as the HPC Challenge (Debian's hpcc) carries it, on one process: its residual is in order and its level 3 ours."""

import os
import re

import pytest
from drop_in import CUT, assert_served, built, needs_program, run

#: Of HPL and of the HPC Challenge around it; what follows a number is not read.
INPUT = """HPLinpack benchmark input file
as tests/clients wants it
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
{count}      # of problems sizes (N)
{sizes}      Ns
2            # of NBs
16 48        NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
1            Qs
16.0         threshold
3            # of panel fact
0 1 2        PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
2            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
0            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
2            # of lookahead depth
0 1          DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1000         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""

pytestmark = [built, needs_program("hpcc", "hpcc")]


@pytest.mark.parametrize(("environment", "sizes"), [({}, "1 127 500"), (CUT, "150")], ids=["whole", "cut"])
def test_hpl_passes_through_us(tmp_path, environment, sizes):
    (tmp_path / "hpccinf.txt").write_text(INPUT.format(count=len(sizes.split()), sizes=sizes))
    # One process needs no mpirun; Open MPI asks a root for a word all the same.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": str(os.cpu_count())}
    result = run(["hpcc"], environment={**environment, **allowed}, cwd=tmp_path)
    assert result.returncode == 0, result.stderr[-2000:]
    report = (tmp_path / "hpccoutf.txt").read_text()
    tests = len(sizes.split()) * 2 * 3 * 2
    assert re.search(rf"Finished\s+{tests} tests", report), report[-4000:]
    assert re.search(rf"^\s+{tests} tests completed and passed residual checks", report, re.MULTILINE), report[-4000:]
    assert "0 tests completed and failed residual checks" in report
    assert_served(result, "dgemm", "dtrsm")
