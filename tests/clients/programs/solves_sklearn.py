"""What users of scikit-learn call for low rank and for least squares; every result is held against its definition, in norms. Ends
with a traceback at the first that is wrong. What was found goes into the file that is named, to compare it with another run's."""

import sys

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.extmath import randomized_svd

SAMPLES, FEATURES, RANK, WANTED = 900, 300, 20, 10
#: Singular values, so far apart that the vectors, too, are the same to rounding in every run.
SIZES = 0.8 ** np.arange(RANK)
found = {}


def near(what, error, precision, scale=1.0):
    # Backward errors of QR and LU are a few eps sqrt(n); 10 n eps leaves room for any order of summation.
    bound = 10 * SAMPLES * np.finfo(precision).eps * scale
    assert error <= bound, f"{what}: {error}, at most {bound}"


def orthonormal(rows, random):
    return np.linalg.qr(random.standard_normal((rows, RANK)))[0]


def of_low_rank(precision):
    """Its rank is what the range finder takes: WANTED and 10 more, so that nothing is left out by chance."""
    random = np.random.default_rng(1)
    return ((orthonormal(SAMPLES, random) * SIZES) @ orthonormal(FEATURES, random).T).astype(precision)


def decompose(precision, normalizer):
    A = of_low_rank(precision)
    how = {"n_oversamples": RANK - WANTED, "n_iter": 4, "random_state": 2}
    U, s, V = randomized_svd(A, WANTED, power_iteration_normalizer=normalizer, **how)
    near("singular values", np.abs(s - SIZES[:WANTED]).max(), precision)
    near("left singular vectors", np.linalg.norm(U.T @ U - np.eye(WANTED)), precision)
    near("right singular vectors", np.linalg.norm(V @ V.T - np.eye(WANTED)), precision)
    near("A v = s u", np.linalg.norm(A @ V.T - U * s), precision)
    found.update({f"{what} by {normalizer}, {precision.__name__}": value for what, value in (("U", U), ("s", s), ("V", V))})


def find_components(precision):
    """Of samples whose mean is as large as they are."""
    X = of_low_rank(precision) + precision(1 / np.sqrt(SAMPLES * FEATURES))
    pca = PCA(WANTED, svd_solver="randomized", n_oversamples=RANK - WANTED, iterated_power=4, random_state=3).fit(X)
    centred = np.float64(X) - np.float64(X).mean(axis=0)
    exact = np.linalg.svd(centred, compute_uv=False)[:WANTED]
    near("components' sizes", np.abs(pca.singular_values_ - exact).max(), precision)
    near("components", np.linalg.norm(pca.components_ @ pca.components_.T - np.eye(WANTED)), precision)
    found[f"components, {precision.__name__}"] = pca.components_
    found[f"variance, {precision.__name__}"] = pca.explained_variance_


def regress(precision):
    random = np.random.default_rng(4)
    X = random.standard_normal((SAMPLES, FEATURES)).astype(precision)
    Y = (X[:, :3] + random.standard_normal((SAMPLES, 3))).astype(precision)
    scale = np.linalg.norm(X) * np.linalg.norm(Y)
    models = {"plain": (LinearRegression(), 0.0)}
    models |= {f"ridge by {solver}": (Ridge(alpha=2.0, solver=solver), 2.0) for solver in ("cholesky", "svd")}
    for name, (model, alpha) in models.items():
        W = model.fit(X, Y).coef_.T
        centred = X - X.mean(axis=0)
        left = Y - model.predict(X)
        # What is left meets no column, but for the penalty's part.
        near(name, np.linalg.norm(centred.T @ left - alpha * W), precision, scale)
        near(f"{name}: the mean of what is left", np.linalg.norm(left.mean(axis=0)), precision, np.linalg.norm(Y))
        found[f"{name}, {precision.__name__}"] = W


for precision in (np.float32, np.float64):
    for normalizer in ("QR", "LU"):
        decompose(precision, normalizer)
    find_components(precision)
    regress(precision)
np.savez(sys.argv[1], **found)
print("right")
