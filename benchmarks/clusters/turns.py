"""Several processes of the engine `starpu-mpi` beside one with as many workers as there are cores, in turn.

    python benchmarks/clusters/turns.py potrf --n 4096 --nb 256,384 [--processes 2,4] [--turns 5] [--repeat 3]

Each turn is a run of `trencadis bench` whose first call is not counted. One JSON object per tile size and number of processes:
medians, least and most in seconds, and the speed of the processes as a share of the one's."""

import argparse
import json
import statistics

from reality import TRENCADIS, mpirun, said


def seconds(words: argparse.Namespace, nb: int, processes: int) -> float:
    """The median of a turn."""
    bench = [TRENCADIS, "bench", words.routine, "--engine", "starpu-mpi", "--n", str(words.n), "--nb", str(nb)]
    bench += ["--repeat", str(words.repeat), "--json", "-"]
    if words.routine == "getrf":
        bench += ["--variant", "tournament"]
    return json.loads(said(*bench) if processes == 1 else mpirun(processes, *bench))["seconds_median"]


def summary(taken: list[float]) -> dict[str, float]:
    return {"median_s": round(statistics.median(taken), 4), "least_s": round(min(taken), 4), "most_s": round(max(taken), 4)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("routine", choices=["potrf", "getrf", "gemm"])
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--nb", default="256")
    parser.add_argument("--processes", default="2,4")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    words = parser.parse_args()
    counts = [1, *map(int, words.processes.split(","))]
    for nb in map(int, words.nb.split(",")):
        taken: dict[int, list[float]] = {count: [] for count in counts}
        for _ in range(words.turns):
            for count in counts:
                taken[count].append(seconds(words, nb, count))
        one = summary(taken[1])
        for count in counts[1:]:
            many = summary(taken[count])
            row = {"routine": words.routine, "n": words.n, "nb": nb, "processes": count, "one": one, "several": many}
            print(json.dumps({**row, "share": round(one["median_s"] / many["median_s"], 2)}), flush=True)


if __name__ == "__main__":
    main()
