"""The wind over hills against formulas, and the demo as a whole on few points."""

import re

import numpy as np
import pytest
from commands import refusal, trencadis
from trencadis.ground_wind import Ground, blowing_from, influence, right_sides, solve_flow, speeds, velocities
from trencadis.terrain import read_terrain
from trencadis.wind import coarse_ground, inner_part

EXTENT = 10.0  # of the hills' grids, in units of the hill's width


def hill(steps, height, stretch=1.0):
    at = np.linspace(-EXTENT / 2, EXTENT / 2, steps)
    return Ground(height * np.exp(-(at[:, None] ** 2 * stretch + at**2) / 2), EXTENT / (steps - 1))


def flow(ground):
    matrix, sources = influence(ground, 2), right_sides(ground)
    solve_flow(None, matrix, sources)
    return velocities(None, ground, sources, 2)


def test_over_a_plain_the_wind_blows_as_far_away():
    assert np.allclose(speeds(Ground(np.full((9, 12), 300.0), 50.0), flow(Ground(np.full((9, 12), 300.0), 50.0))), 1)


def test_the_top_of_a_low_round_hill_is_as_fast_as_linear_theory_says():
    """Of h exp(-r^2 / 2): 1 + h sqrt(pi / 8), the integral of k_x^2 / |k| with the hill's spectrum."""
    expected = 0.01 * np.sqrt(np.pi / 8)
    errors = []
    for steps in (31, 61):
        velocity = flow(hill(steps, 0.01))
        gain = speeds(hill(steps, 0.01), velocity)[:, steps // 2, steps // 2] - 1
        assert gain[0] == pytest.approx(gain[1], rel=1e-6)
        errors.append(abs(gain[0] / expected - 1))
    assert errors[1] < 0.03 and errors[1] < errors[0] / 3  # second order in the spacing


def test_over_a_steep_hill_the_wind_is_symmetric_and_about_as_fast_as_over_half_a_ball():
    ground = hill(61, 0.8)
    speed = speeds(ground, flow(ground))[0]
    assert 1.3 < speed[30, 30] < 1.6, "half a ball has 1.5"
    assert speed.min() > 0.4
    assert np.allclose(speed, speed[::-1], rtol=1e-6) and np.allclose(speed, speed[:, ::-1], rtol=1e-6)


def test_the_matrix_is_the_formula():
    ground = hill(7, 0.5, stretch=3.0)
    points, normals = ground.points, ground.normals / np.linalg.norm(ground.normals, axis=1)[:, None]
    A = influence(ground, 2)
    for i, j in [(0, 1), (10, 40), (40, 10), (24, 25)]:
        away = points[i] - points[j]
        assert A[i, j] == pytest.approx(ground.spacing**2 * normals[i] @ away / (4 * np.pi * np.linalg.norm(away) ** 3))
    assert not np.allclose(A, A.T)


def test_a_wind_of_any_direction_is_the_sum_of_two():
    velocity = flow(hill(31, 0.3))
    round_hill = [speeds(hill(31, 0.3), blowing_from(velocity, angle)) for angle in (0, 90, 180, 270)]
    assert np.allclose(round_hill[0], np.rot90(round_hill[1]), rtol=1e-6)
    assert np.allclose(round_hill[0], round_hill[2]) and np.allclose(round_hill[1], round_hill[3])
    east, north = blowing_from(np.array([[1.0, 0.0], [0.0, 1.0]]), 270)
    assert (east, north) == pytest.approx((1, 0)), "a west wind blows to the east"


def test_the_ground_is_the_terrain_in_its_inner_part():
    terrain = read_terrain()
    ground = coarse_ground(terrain, 3000)
    assert abs(ground.heights.size / 3000 - 1) < 0.05
    rows, columns = (inner_part(extent) for extent in ground.heights.shape)
    at = np.argwhere(np.ones(ground.heights.shape))
    nearest = terrain.heights[
        np.minimum((at[:, 0] * ground.spacing / (-1000 * terrain.extent[2]) * 343).round().astype(int), 343),
        np.minimum((at[:, 1] * ground.spacing / (1000 * terrain.extent[1]) * 402).round().astype(int), 402),
    ].reshape(ground.heights.shape)
    assert np.corrcoef(ground.heights[rows, columns].ravel(), nearest[rows, columns].ravel())[0, 1] > 0.95
    assert np.ptp(ground.heights[0]) == 0 and np.ptp(ground.heights[:, -1]) == 0


def test_the_demo_finds_the_wind_on_the_ridges_and_draws_it(tmp_path):
    out, err = trencadis("demo", "wind", "--points", "900", "-o", tmp_path / "pictures", cwd=tmp_path)
    assert err == "" and "GFlop/s" in out and "times as fast" in out
    assert float(re.search(r"sources differ by (\S+) relatively", out)[1]) < 1e-12
    fast, high, slow, low = map(int, re.search(r"away: (\d+) % at (\d+) m, (\d+) % at (\d+) m", out).groups())
    assert 100 < fast < 150 and 50 < slow < 100 and high > low + 200
    assert float(re.search(r"correlation with the height ([\d.]+)", out)[1]) > 0.5
    files = {file.name: file.read_bytes() for file in (tmp_path / "pictures").iterdir()}
    assert set(files) == {"wind.png", "wind-solve.svg"}
    assert files["wind.png"].startswith(b"\x89PNG") and b"</svg>" in files["wind-solve.svg"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["wind", "--points", "3"], "--points: 3 is not between 400 and 40000"),
        (["wind", "--points", "500", "-o", "file"], "'file' exists and is not a folder"),
        (["wind", "--points", "500", "-o", "none/such"], "none to make 'such' in"),
        (["wind", "--seed", "3"], "--seed: goes with demo terrain"),
        (["rain"], "unknown demo 'rain'"),
    ],
)
def test_bad_input_is_refused(tmp_path, words, message):
    (tmp_path / "file").touch()
    assert message in refusal("demo", *words, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
