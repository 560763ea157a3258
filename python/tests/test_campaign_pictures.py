"""Pictures of reports on campaigns: who has how many, and what is said of those that are left out."""

from commands import trencadis
from test_campaign_report import write_runs
from trencadis.report import findings, gantt, pictures
from trencadis.report.read import read_groups


def many(tmp_path, factors):
    (group,) = read_groups([write_runs(tmp_path / "c", factors=factors, repetitions=3)])
    return group, findings.configurations(group)


def test_routines_share_the_pictures_and_the_page_says_what_was_left_out(tmp_path):
    factors = {"routine": ["geqrf", "getrf", "potrf"], "n": [512, 1024], "scheduler": ["mosaic", "ws"], "turbo": [True, False]}
    group, found = many(tmp_path, factors)
    drawn, (note,) = pictures.interaction_pictures(group, found)
    titles = [title for title, _ in drawn]
    assert len(titles) == pictures.MOST_PICTURES and len(set(titles)) == len(titles)
    assert all(sum(title.startswith(routine) for title in titles) == 4 for routine in factors["routine"])
    assert (
        note.startswith("pictures: 12 are drawn, 6 left out: geqrf energy package by ") and "; potrf energy package by " in note
    )
    trencadis("report", tmp_path / "c", "-o", tmp_path / "r.html", "--no-gantt")
    assert "pictures: 12 are drawn, 6 left out" in (tmp_path / "r.html").read_text()


def test_a_picture_of_more_levels_than_colours_says_which_have_no_line(tmp_path):
    factors = {"routine": ["potrf"], "n": list(range(100, 1100, 100)), "nb": list(range(8, 8 + pictures.MOST_LINES + 2)),
               "scheduler": ["mosaic"], "turbo": [True]}  # fmt: skip
    group, found = many(tmp_path, factors)
    drawn, notes = pictures.interaction_pictures(group, found)
    (axes,) = [(x, lines) for x, lines in [("n", "nb"), ("nb", "n")] if f"by {x} and {lines}" in drawn[0][0]]
    unseen = ", ".join(str(level) for level in factors[axes[1]][pictures.MOST_LINES :])
    assert notes[0] == f"picture '{drawn[0][0]}': has {pictures.MOST_LINES} lines, and none for {axes[1]} {unseen}"


def test_routines_share_the_timelines_and_the_page_says_what_was_left_out(tmp_path, monkeypatch):
    factors = {"routine": ["getrf", "potrf"], "n": [100, 200, 300, 400], "scheduler": ["mosaic"], "turbo": [True]}
    group, found = many(tmp_path, factors)
    monkeypatch.setattr(gantt, "_measured", lambda best: "<svg/>")
    drawn, notes = gantt.gantt_pictures(group, found)
    assert [title.partition(":")[0] for title, _ in drawn] == [
        f"d{r} n = {n}" for r in factors["routine"] for n in (100, 200, 300)
    ]
    assert notes == ["timelines: 6 are drawn, 2 left out: dgetrf n = 400, dpotrf n = 400"]
