"""`trencadis campaign` on the command line."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from .campaign.factors import FACTORS, REAL
from .campaign.plan import Plan, read_plan
from .files import warn
from .patience import has_results_to_write
from .records import Step, progress_bar
from .tables import print_table

EXIT_FAILED = 1

PlanFile = Annotated[Path, typer.Argument(metavar="FILE.toml", help="What to vary; see docs/campaigns.md", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FOLDER", show_default=False,
        help="Where the runs go, and where a campaign goes on that was killed; default: the campaign's name",
    ),
]  # fmt: skip
Machine = Annotated[
    str,
    typer.Option(
        "--machine", metavar="NAME|FILE", show_default=False, help="A described machine, or real, instead of what the file says"
    ),
]
SetLevers = Annotated[
    bool, typer.Option("--set-levers", help="Allow turbo, cstates and governor to be set for the whole machine, and put back")
]
Dry = Annotated[bool, typer.Option("--plan", help="Show the configurations and how many runs they make, and stop")]

#: Seconds between two lines of progress where no terminal shows a bar.
SAY_EVERY_S = 60.0


def register(app: typer.Typer) -> None:
    factors = "\n\n".join(f"[bold]{name}[/bold]: {factor.summary}" for name, factor in FACTORS.items())
    app.command("campaign", epilog=f"[bold]Factors[/bold], each with its levels as a list.\n\n{factors}")(campaign_command)


def campaign_command(
    file: PlanFile, output: Folder = None, machine: Machine = "", set_levers: SetLevers = False, plan: Dry = False
) -> None:
    """Run all combinations of factors' levels in an order by chance, 30 times each, and keep every run on the disk. A campaign
    that was killed goes on where it was when the same command is given again."""
    planned = read_plan(file, machine)
    if plan:
        return _show_plan(planned)
    folder = output if output is not None else Path(planned.name)
    failed = _carry_out(planned, folder, set_levers)
    if failed:
        raise typer.Exit(EXIT_FAILED)
    return None


def _carry_out(plan: Plan, folder: Path, set_levers: bool) -> int:
    """How many runs have failed."""
    from .campaign.conduct import Campaign, Ended, ending_in_order
    from .campaign.levers import Levers
    from .campaign.store import Store

    total = plan.repetitions * len(plan.configurations)
    has_results_to_write()  # and levers to put back
    try:
        with ending_in_order(), Store(folder, plan, warn) as store, Levers(set_levers, warn) as levers:
            before = len(store.records)
            with progress_bar(max(0, total - before)) as step:
                made = Campaign(plan, store, levers, warn, step if sys.stderr.isatty() else _spoken()).run()
            failed = [record for record in store.records.values() if record.get("error") is not None]
    except Ended as end:
        warn(f"ended by {end}; the same command goes on with the rest")
        raise typer.Exit(end.code) from None
    _say(folder, plan, made, before, failed)
    return len(failed)


def _spoken() -> Step:
    """Now and then a line."""
    import time

    last = time.monotonic()

    def step(text: str, done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SAY_EVERY_S:
            last = time.monotonic()
            warn(text)

    return step


def _say(folder: Path, plan: Plan, made: int, before: int, failed: list[dict[str, Any]]) -> None:
    there = f", {before} were there" if before else ""
    print(f"{plan.name}: {len(plan.configurations)} configurations, {plan.repetitions} repetitions; {made} runs made{there}")
    print(f"wrote {folder / 'runs.jsonl'}; see: trencadis report {folder}")
    for message, count in Counter(record.get("message") for record in failed).items():
        warn(f"{count} of {before + made} runs failed: {message}")


def _show_plan(plan: Plan) -> None:
    from .campaign.runs import RealRuns, check_described

    configurations = plan.configurations
    with RealRuns(plan) as real:
        real.check(configuration for configuration in configurations if configuration["machine"] == REAL)
    check_described(plan, (configuration for configuration in configurations if configuration["machine"] != REAL))
    print(f"{plan.name}: {len(configurations)} configurations, {plan.repetitions} repetitions each, "
          f"{len(configurations) * plan.repetitions} runs")  # fmt: skip
    rows = [{key: ("" if value is None else str(value)) for key, value in one.items()} for one in configurations]
    print_table(rows, {name: name for name in plan.factors})
