"""The deliberate faults of scripts/mutations.py: what is replaced, and who should notice."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Fault:
    what: str
    file: str
    right: str
    wrong: str
    #: Test programs in the order in which they are asked; the first that fails has caught it.
    tests: tuple

    def has_its_place(self):
        return (ROOT / self.file).read_text().count(self.right) == 1


BLAS, TILES, CALLS, FACE, ESTIMATES, ENGINES = "blas", "algorithms", "routines", "blas_face", "estimates", "engines"


def off(element):
    """One element off by 1e-12 of itself; single precision does not see it."""
    return f"{element} *= Real<T>(1 + 1e-12);"


def faults():
    yield from infos()
    yield from pivots()
    yield from other_triangles()
    yield from handlers()
    yield from elements()
    yield from padding()
    yield from companions()
    yield from the_rest()
    yield from reflectors()
    yield from exchanges()
    yield from small_factorizations()
    yield from least_squares()
    yield from little_memory()


def infos():
    file = "src/blas/factorizations/potrf.cpp"
    right = "return factor_small(uplo_, n, A, lda_);"
    yield Fault("potrf: info is always 0", file, right, right[:-1] + " * 0;", (BLAS,))
    yield Fault("potrf by halves: info is always 0", file, "return info ? info + n1 : 0;", "return 0;", (BLAS, CALLS, FACE))
    file = "src/kernels/tiles/tile_potrf.cpp"
    yield Fault("potrf by tiles: info is always 0", file, "context.outcome().report(first_row + row);", "(void)row;", (TILES,))
    file = "src/blas/factorizations/getrf.cpp"
    call = "setup<T>().kernel.factor_columns({m, n, A, lda, pivots, work, ldw, inverse_pivot<T>, divide_by_pivot<T>});"
    yield Fault("getrf of few columns: info is always 0", file, f"return {call}", f"return {call[:-1]} * 0;", (BLAS,))
    right = "return info ? info : later ? later + n1 : 0;"
    yield Fault("getrf: info is always 0", file, right, "return 0;", (BLAS,))
    yield Fault("getrf: info of the second half alone", file, right, "return later ? later + n1 : 0;", (BLAS,))
    file = "src/kernels/tiles/tile_panel.cpp"
    yield Fault("getrf by tiles: info is always 0", file, "context.outcome().report(first + zero);", "(void)zero;", (TILES,))
    file = "src/drivers/lu.cpp"
    right = "return info ? info : getrs(kernels, Op::none, n, nrhs, A, lda, ipiv, B, ldb);"
    wrong = "getrs(kernels, Op::none, n, nrhs, A, lda, ipiv, B, ldb);\n    return info;"
    yield Fault("gesv: divides by the zero that it reports", file, right, wrong, (CALLS, FACE))
    file = "src/matrix/diagonal.hpp"
    right = "if (A[i + i * lda] == T(0)) return i + 1;"
    yield Fault("getri, trtrs: info is always 0", file, right, right.replace("i + 1", "0"), (CALLS, FACE))
    file = "src/algorithms/getrf.cpp"
    yield Fault("gesv by tiles: divides by the zero that it reports", file, "Guard{A.rows()}", "Guard{}", (TILES,))
    file = "src/kernels/tiles/inverse_operations.hpp"
    right = "return context.outcome().report(k * mb + i + 1);"
    yield Fault("trtri: info is always 0", file, right, "return;", (CALLS, FACE))


def pivots():
    file = "src/blas/factorizations/getrf.cpp"
    call = "return setup<T>().kernel.factor_columns({m, n, A, lda, pivots, work, ldw, inverse_pivot<T>, divide_by_pivot<T>});"
    wrong = call.replace("return", "const Index info =") + "\n    if (pivots[n - 1] < m) ++pivots[n - 1];\n    return info;"
    yield Fault("getrf of few columns: the last pivot is off by one", file, call, wrong, (BLAS,))
    yield Fault("getrf: pivots of the second half are off by one", file, "pivots[i] += n1;", "pivots[i] += n1 - 1;", (BLAS,))
    right = "laswp(n1, A21, lda, 0, n2, pivots + n1);"
    yield Fault("getrf: rows left of a panel are not exchanged", file, right, "", (BLAS,))
    right = "if (*lowest <= begin || rows > 2 * count || rows > longest) return false;"
    wrong = "if (rows > 2 * count || rows > longest) return false;"
    yield Fault("laswp: a permutation of rows above the first", "src/blas/factorizations/laswp.cpp", right, wrong, (BLAS,))
    file = "src/kernels/tiles/tile_panel.cpp"
    right = "pivots[i] += first;"
    yield Fault("getrf by tiles: pivots are off by one", file, right, "pivots[i] += first - (first > 0);", (TILES,))
    file = "src/algorithms/getrf.cpp"
    right = "exchange(blas::Interchanges::backward);"
    yield Fault("getrs of the transpose: rows exchanged forward", file, right, right.replace("back", "for"), (TILES,))
    file = "src/kernels/tiles/tile_getri.cpp"
    right = "for (Index j = n; j-- > 0;)"
    yield Fault("getri: columns exchanged forward", file, right, "for (Index j = 0; j < n; ++j)", (CALLS,))


def other_triangles():
    file = "src/blas/micro/cholesky_columns.hpp"
    right = "for (Index i = p; i < x.n; i += N) Vec::save_some(to"
    yield Fault("potrf: writes above the diagonal", file, right, right.replace("i = p", "i = p / N * N"), (BLAS,))
    file = "src/blas/level3/rank_k.cpp"
    right = "left.transposed(), beta, C, 1, ldc, part_of(uplo)"
    yield Fault("syrk: writes both triangles", file, right, right.replace("part_of(uplo)", "Part::all"), (BLAS,))
    right = "T(beta), C, 1, ldc, part_of(uplo)"
    yield Fault("herk: writes both triangles", file, right, right.replace("part_of(uplo)", "Part::all"), (BLAS,))
    file = "src/kernels/tiles/packed_multiply.cpp"
    right = "multiply_packed<T>(kernel, kc, part, below,"
    wrong = right.replace("part,", "blas::Part::all,")
    yield Fault("rank updates of packed tiles: write both triangles", file, right, wrong, (TILES, CALLS))
    file = "src/kernels/tiles/inverse_operations.hpp"
    right = "at(i, j) = i == j ? T(std::real(sum)) : sum;"
    yield Fault("lauum: writes both triangles", file, right, right + " at(j, i) = at(i, j);", (CALLS, FACE))
    right = "lower ? n - 1 - j : j, 1, factor, inverse, lda, rest, lda);"
    wrong = right + "\n            if (lower && j > 0) column[j - 1] = T(0);"
    yield Fault("trtri: writes above the diagonal", file, right, wrong, (CALLS, FACE))


def handlers():
    file = "src/interfaces/lapack/xerbla.cpp"
    right = "return report(name, &wide, std::max<std::size_t>(length, 6));"
    yield Fault("xerbla is not called", file, right, "return;", (FACE,))
    yield Fault("xerbla is told the next argument", file, "wide = number;", "wide = number + 1;", (FACE,))
    yield Fault("cblas_xerbla is not called", file, "return report(number, routine, form, value);", "return;", (FACE,))
    right = "report(routine, info);"
    yield Fault("LAPACKE_xerbla is not called", file, right, "(void)report;", (FACE,))


def elements():
    file = "src/blas/level3/gemm.cpp"
    right = "general(B, ldb, op_b), beta, C, 1, ldc});"
    yield Fault("gemm: one element is off by 1e-12", file, right, f"{right}\n    if (m > 0 && n > 0) {off('C[0]')}", (BLAS,))
    file = "src/blas/level3/rank_k.cpp"
    right = "left.transposed(), beta, C, 1, ldc, part_of(uplo)});"
    yield Fault("syrk: one element is off by 1e-12", file, right, f"{right}\n    if (n > 0) {off('C[0]')}", (BLAS,))
    file = "src/blas/level3/macro_kernel.cpp"
    right = "if (depth == 0 && beta == T(1)) continue;"
    wrong = f"{right}\n            if (i == begin && p0 > 0) {off('C[i * rs + j * cs]')}"
    yield Fault("products: an element is off by 1e-12 from block to block", file, right, wrong, (BLAS,))
    file = "src/blas/level3/trsm.cpp"
    right = "solve_block(kernel, with.tree[Loop::pc], x.rows, width, triangle, block, x.rs, x.cs, X, !is_last && x.rs == 1);"
    yield Fault("trsm: one element is off by 1e-12", file, right, f"{right}\n        {off('block[0]')}", (BLAS,))
    file = "src/blas/factorizations/potrf.cpp"
    right = "return n <= 0 ? 0 : Cholesky<T>(uplo, lda, helpers).factor(n, A);"
    wrong = f"const Index info = {right[7:]}\n    if (n > 0) {off('A[(n - 1) * (lda + 1)]')}\n    return info;"
    yield Fault("potrf: one element is off by 1e-12", file, right, wrong, (BLAS,))
    file = "src/blas/factorizations/getrf.cpp"
    right = "    return info;\n}\n\n#define"
    yield Fault("getrf: one element is off by 1e-12", file, right, f"    {off('A[m - 1]')}\n{right}", (BLAS,))
    file = "src/kernels/tiles/tile_getri.cpp"
    right = "    exchange_columns(n, n, A, lda, pivots);"
    yield Fault("getri: one element is off by 1e-12", file, right, f"{right}\n    {off('A[0]')}", (CALLS, FACE))
    file = "src/kernels/tiles/inverse_operations.hpp"
    right = "at(i, j) = i == j ? T(std::real(sum)) : sum;"
    wrong = f"{right} if (i + j == 0) {off('at(0, 0)')}"
    yield Fault("lauum: the first element is off by 1e-12", file, right, wrong, (CALLS, FACE))
    right = "TriangleInverse<T>{kernels_of(context), uplo, diag}.run(n, A.data, A.ld);"
    wrong = f"{right}\n        {off('A.data[uplo == Uplo::lower ? n - 1 : (n - 1) * A.ld]')}"
    yield Fault("trtri: one element is off by 1e-12", file, right, wrong, (CALLS, FACE))
    file = "src/drivers/lu.cpp"
    right = "{ trsm(kernels, Side::left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb); });"
    wrong = f"{right}\n    {off('B[0]')}"
    yield Fault("getrs: one element is off by 1e-12", file, right, wrong, (CALLS, FACE))
    file = "src/drivers/mixed_precision.cpp"
    right = "if (good_enough(bound)) return step;"
    wrong = "if (good_enough(bound)) return X_[0] *= 1 + 1e-12, step;"
    yield Fault("dsgesv and dsposv: one element is off by 1e-12", file, right, wrong, (CALLS, FACE))


def padding():
    def written(array, rows, ld, columns="true"):
        return f"\n    if ({rows} < {ld} && {columns}) {array}[{rows}] = T(0);"

    file = "src/blas/level3/gemm.cpp"
    right = "general(B, ldb, op_b), beta, C, 1, ldc});"
    yield Fault("gemm: writes a row below C", file, right, right + written("C", "m", "ldc", "n > 0"), (BLAS,))
    file = "src/blas/level3/rank_k.cpp"
    right = "left.transposed(), beta, C, 1, ldc, part_of(uplo)});"
    yield Fault("syrk: writes a row below C", file, right, right + written("C", "n", "ldc", "n > 0"), (BLAS,))
    file = "src/blas/level3/trsm.cpp"
    right = "fit_to_memory(with, [&] { reserve_buffers(with, x); });"
    yield Fault("trsm: writes a row below B", file, right, right + written("B", "m", "ldb"), (BLAS,))
    file = "src/blas/factorizations/potrf.cpp"
    right = "n1 = (n / 2 + unit - 1) / unit * unit;"
    yield Fault("potrf: writes a row below A", file, right, right + written("A", "n", "lda_"), (BLAS,))
    file = "src/blas/factorizations/getrf.cpp"
    right = "    if (k <= 0) return 0;"
    yield Fault("getrf: writes a row below A", file, right, right + written("A", "m", "lda"), (BLAS,))
    file = "src/kernels/tiles/tile_getri.cpp"
    right = "    exchange_columns(n, n, A, lda, pivots);"
    yield Fault("getri: writes a row below A", file, right, right + written("A", "n", "lda"), (CALLS, FACE))
    file = "src/drivers/lu.cpp"
    right = "{ trsm(kernels, Side::left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb); });"
    yield Fault("getrs: writes a row below B", file, right, right + written("B", "n", "ldb", "nrhs > 0"), (CALLS, FACE))
    file = "src/drivers/mixed_precision.cpp"
    right = "if (good_enough(bound)) return step;"
    wrong = "if (good_enough(bound)) return (n_ < ldx_ ? void(X_[n_] = T(0)) : void()), step;"
    yield Fault("dsgesv and dsposv: write a row below X", file, right, wrong, (CALLS, FACE))


def companions():
    """Conditions, norms, scalings, refinement, whole systems, mixed precision and batches."""
    file = "src/estimates/condition.cpp"
    right = "*rcond = 1 / inverse / anorm;\n    return std"
    yield Fault("gecon: the norm is left out", file, right, "*rcond = 1 / inverse;\n    return std", (ESTIMATES, FACE))
    right = "const Op first = uplo == Uplo::lower ?"
    yield Fault("pocon: the factor's other order", file, right, "const Op first = uplo != Uplo::lower ?", (ESTIMATES,))
    right = "*rcond = 1 / anorm / inverse;\n    return 0;"
    yield Fault("trcon: the norm is left out", file, right, "*rcond = 1 / inverse;\n    return 0;", (ESTIMATES,))
    right = "if (wanted) std::copy_n(attained, n, work + n);"
    yield Fault("gecon: nothing is left in work for xLATDF", file, right, "", (ESTIMATES, FACE))
    right = "    *rcond = 1 / inverse / anorm;\n    return"
    yield Fault("gecon: twice as much", file, right, right.replace("1 /", "2 /"), (ESTIMATES, CALLS, FACE))
    right = "if (inverse != 0) *rcond = 1 / inverse / anorm;"
    yield Fault("pocon: twice as much", file, right, right.replace("1 /", "2 /"), (ESTIMATES, CALLS, FACE))
    right = "*rcond = 1 / anorm / inverse;"
    yield Fault("trcon: twice as much", file, right, right.replace("1 /", "2 /"), (ESTIMATES, CALLS, FACE))
    file = "src/estimates/norms.cpp"
    right = "if (A.mirrored) sums[j] += sum;"
    yield Fault("lansy: one triangle alone is summed", file, right, "", (ESTIMATES,))
    right = "return a < b || std::isnan(b) ? b : a;"
    yield Fault("lange: NaNs are passed over", file, right, "return a < b ? b : a;", (ESTIMATES,))
    right = "A.has_diagonal(j) ? sum + on_diagonal(j) : sum"
    yield Fault("lantr: the diagonal is left out", file, right, "sum", (ESTIMATES,))
    file = "src/estimates/scalings.cpp"
    right = "size = std::max(size, size_of(A[i + j * lda]) * r[i]);"
    yield Fault("geequ: columns without the rows' factors", file, right, right.replace(" * r[i]", ""), (ESTIMATES,))
    right = "return zero ? m + zero : 0;"
    yield Fault("geequ: a column's number without m", file, right, "return zero;", (ESTIMATES,))
    file = "src/estimates/refine.cpp"
    right = "for (Index i = 0; i < n_; ++i) x[i] += residual_[i];"
    yield Fault("gerfs: the steps go the other way", file, right, right.replace("+=", "-="), (ESTIMATES,))
    right = "return most != 0 ? error / most : error;"
    yield Fault("gerfs: the bound is not relative", file, right, "return error;", (ESTIMATES,))
    right = "blas::laswp(1, r, n, 0, n, ipiv, blas::Interchanges::backward);"
    yield Fault("gerfs of the transpose: rows exchanged forward", file, right, right.replace("back", "for"), (ESTIMATES,))
    right = "kernel.dots(rows, columns, A + row + first * lda, lda, x + row, true, products);"
    yield Fault("porfs: one triangle alone", file, right, "std::fill_n(products, columns, T(0));", (ESTIMATES,))
    file = "src/drivers/expert.cpp"
    right = "if (plain && columns) system.scale_back(c, ratio_of(n, c));"
    yield Fault("gesvx: the solution of the scaled matrix", file, right, "", (CALLS, FACE))
    right = "if (scaled) system.scale_back(s, ratio_of(n, s));"
    yield Fault("posvx: the solution of the scaled matrix", file, right, "", (CALLS,))
    right = "return *rcond < std::numeric_limits<R>::epsilon() / 2 ? n + 1 : 0;"
    yield Fault("gesvx: nobody is told of a bad condition", file, right, "return 0;", (CALLS,))
    file = "src/drivers/mixed_precision.cpp"
    right = "if (gmres_) return refine_by_gmres(bound);"
    yield Fault("gmres: plain steps in its place", file, right, "", (CALLS,))
    right = "if (!narrow(B_, ldb_) || too_large_) return overflow;"
    yield Fault("dsgesv: numbers beyond single precision", file, right, right.replace(" || too_large_", ""), (CALLS,))
    file = "src/drivers/mixed_least_squares.cpp"
    right = "for (Index i = 0; i < m_; ++i) missing_r(j)[i] = b[i] - r[i];"
    yield Fault("gels_mixed: the residual is not refined", file, right, right.replace(" - r[i]", ""), (CALLS,))
    right = "if (!(rcond > least_rcond)) return factorization_failed;"
    yield Fault("gels_mixed: a bad condition is not seen", file, right, "", (CALLS,))
    right = "X_[i + j * ldx_] += missing_x(j)[i] ="
    yield Fault("gels_mixed: one step alone", file, right, "X_[i + j * ldx_] = missing_x(j)[i] =", (CALLS,))
    file = "src/drivers/batches.cpp"
    right = "const Index first = group * width;"
    yield Fault("batches: the first group again and again", file, right, "const Index first = 0 * group;", (CALLS,))


def the_rest():
    file = "src/blas/level3/macro_kernel.cpp"
    right = "if (beta == T(0)) x = T(0);\n        else x *= beta;"
    yield Fault("rank updates read C where beta is 0", file, right, "x *= beta;", (BLAS,))
    file = "src/blas/factorizations/inverse_pivot.hpp"
    right = "if (!(std::abs(*pivot) >= std::numeric_limits<Real<T>>::min())) return false;"
    yield Fault("getrf: inverts pivots that have no inverse", file, right, "", (BLAS,))
    file = "src/algorithms/getrf.cpp"
    right = "trsm(flow, Uplo::lower, Diag::non_unit, T(1), A.with(op), B, guard);"
    wrong = right.replace("A.with(op)", "A.with(Op::trans)")
    yield Fault("getrs: the Hermitian transpose is taken for the transpose", file, right, wrong, (TILES,))
    file = "src/interfaces/lapack/faces.cpp"
    right = "return {lwork < least ?"
    yield Fault("getri: a workspace too small is not refused", file, right, "return {false ?", (FACE,))
    right = "if (lwork == -1) return *work = answered_size<T>(least),"
    yield Fault("getri: the question for the workspace is not answered", file, right, "if (lwork == -1) return", (FACE,))
    file = "src/drivers/mixed_precision.cpp"
    right = "ldx, gmres).run();\n    }\n    if (iterations) *iterations = steps;"
    yield Fault("dsgesv: the steps are not told", file, right, right.replace("= steps", "= 0"), (CALLS, FACE))


def reflectors():
    file = "src/drivers/qr.cpp"

    def spoilt(what, right, more):
        """After the computation of a call on the calling thread."""
        wrong = f"{right};\n    if (m > 0 && n > 0) {{ {more} }}\n    return 0;"
        return Fault(what, file, f"return {right}, 0;", wrong, (FACE, CALLS))

    geqrf, gelqf = "blas::geqrf<T>(m, n, A, lda, tau, nullptr, 1)", "blas::gelqf(m, n, A, lda, tau)"
    yield spoilt("geqrf: tau is scaled by 1 + 1e-12", geqrf, off("tau[0]"))
    yield spoilt("geqrf: a reflector's sign is wrong", geqrf, "if (m > 1) A[1] = -A[1];")
    yield spoilt("geqrf: V is clobbered", geqrf, "if (m > 1) A[m - 1] = T(0);")
    yield spoilt("geqrf: one element of R is off by 1e-12", geqrf, off("A[(n - 1) * lda]"))
    yield spoilt("geqrf: writes a row below A", geqrf, "if (m < lda) A[m] = T(0);")
    yield spoilt("gelqf: tau is scaled by 1 + 1e-12", gelqf, off("tau[0]"))
    yield spoilt("gelqf: a reflector's sign is wrong", gelqf, "if (n > 1) A[lda] = -A[lda];")
    yield spoilt("orgqr: one element is off by 1e-12", "blas::orgqr(m, n, k, A, lda, tau)", off("A[0]"))
    yield spoilt("orglq: one element is off by 1e-12", "blas::orglq(m, n, k, A, lda, tau)", off("A[0]"))
    for routine, place in (("ormqr", "1"), ("ormlq", "lda")):
        call = f"blas::{routine}(side, op, m, n, k, A, lda, tau, C, ldc)"
        yield spoilt(f"{routine}: one element is off by 1e-12", call, off("C[0]"))
        yield spoilt(f"{routine}: V is clobbered", call, f"if (k > 1) const_cast<T*>(A)[{place}] = T(0);")
        yield spoilt(f"{routine}: writes a row below C", call, "if (m < ldc) C[m] = T(0);")
    right = "left == (op != Op::none), [&]"
    yield Fault("gemqrt: blocks in the wrong order", file, right, right.replace("!=", "=="), (FACE,))
    right = "blas::geqrf(m - i, ib, V, lda, tau, t + i * ldt, ldt);"
    yield Fault("geqrt: a triangle's scalar is off by 1e-12", file, right, right + f"\n        {off('t[i * ldt]')}", (FACE,))
    file = "src/blas/factorizations/ormqr.cpp"
    right = "set_identity(storage, length, some, first, A + first * (columns ? lda : 1), lda);"
    yield Fault("orgqr: what R had above Q's columns is not zeroed", file, right, "", (FACE,))
    file = "src/algorithms/signatures.hpp"
    right = "#define TRC_LEAST_WORK_ormqr std::max<::trencadis::Index>(1, side == Side::left ? n : m)"
    yield Fault("ormqr: the workspace of the other side", file, right, right.replace("left", "right"), (FACE,))
    file = "src/algorithms/arguments.hpp"
    right = "return allowed() && (complex || given != Op::conj_trans) ? 0 : number;"
    yield Fault("ormqr: takes LAPACK's letter of the other precisions", file, right, "return allowed() ? 0 : number;", (FACE,))
    right = "return value < least || value > most ? number : 0;"
    yield Fault("orgqr: more reflectors than columns are not refused", file, right, "return value < least ? number : 0;", (FACE,))


def exchanges():
    file = "src/blas/factorizations/pivoted_qr.cpp"

    def fault(what, right, wrong, tests=(BLAS,)):
        return Fault(f"geqp3: {what}", file, right, wrong, tests)

    right = "if (kernel.columns.shorten(count, elements, norms_ + begin, found_ + begin))"
    yield fault("norms are not brought along", right, "if (false)")
    right = "if (found_[c] < 0) find_norm(c, row);"
    yield fault("norms are not found anew", right, "if (found_[c] < 0) found_[c] = norms_[c];")
    right = "bring(c + longest(n_ - c, norms_ + c), c, j);"
    yield fault("the pivot is off by one", right, "bring(std::min(n_ - 1, c + 1 + longest(n_ - c, norms_ + c)), c, j);")
    yield fault("of equal columns the last", "if (norms[j] > most)", "if (norms[j] >= most)")
    yield fault("tau is scaled by 1 + 1e-12", "scale(count, tau_[c], f);", f"scale(count, tau_[c], f); {off('tau_[c]')}")
    right = "for (Index i = 0; i < j; ++i) std::swap(*of_F(chosen, i), *of_F(c, i));"
    yield fault("F's rows are not exchanged", right, "")
    right = "std::swap(jpvt[j], jpvt[fixed++]);"
    yield fault("fixed columns are not told", right, "++fixed;")
    file = "src/drivers/qr.cpp"
    right = "ormqr(crew, Side::left, Op::conj_trans, m, n - done, done, A, lda, tau, rest, lda, asked);"
    yield fault("fixed columns are not applied to the others", right, "", (CALLS,))
    file = "src/algorithms/signatures.hpp"
    right = "? n + 1 : 3 * n + 1)"
    yield fault("the workspace of complex precisions in all", right, "? n + 1 : n + 1)", (FACE,))


def small_factorizations():
    file = "src/blas/factorizations/getrf.cpp"
    right = "laswp(width, column(p * width), lda_, (p + 1) * width, k, pivots_);"
    yield Fault("LU by panels: rows in front are not exchanged", file, right, ";", (BLAS,))
    file = "src/blas/factorizations/look_ahead.hpp"
    right = "if (p.end < k_) panels_.factor(at(p.end));"
    yield Fault("look-ahead: the next panel is not factored", file, right, "", (BLAS,))
    right = "n_ - next.end < unit ? Panel{next.begin, n_} : next;"
    yield Fault("look-ahead: columns too few for their bits go alone", file, right, "false ? next : next;", (BLAS,))
    right = "for (Panel p = at(0); p.begin < std::min(block.begin, k_); p = at(p.end)) panels_.update(p, block);"
    yield Fault("look-ahead alone: blocks know nothing of earlier panels", file, right, "", (BLAS,))
    file = "src/blas/micro/cholesky_columns.hpp"
    right = "v = Vec::from(own + parts) ? v : Vec::from(own) ? pair(root) : V{};"
    wrong = "v = Vec::from(own + parts) ? v : pair(root);"
    yield Fault("small Cholesky: roots above the diagonal as well", file, right, wrong, (BLAS,))
    right = "if (!(pivot > 0)) return j; // NaN as well"
    yield Fault("small Cholesky: a pivot that is no number is taken", file, right, "if (pivot <= 0) return j;", (BLAS,))
    file = "src/blas/micro/qr_small.hpp"
    right = "Vec::save(a + k * step + first, below ? subtract(first, k, top) : V{});"
    wrong = "Vec::save(a + k * step + first, subtract(first, k, top));"
    yield Fault("small QR: a row of R stays in the columns", file, right, wrong, (BLAS,))
    right = "multiple[k] = tau.conjugate() *"
    yield Fault("small QR: H for H^H", file, right, "multiple[k] = tau *", (BLAS,))


def least_squares():
    file = "src/drivers/least_squares.cpp"
    yield Fault("gels: info is always 0", file, "if (info) return info;", "if (info) return 0;", (CALLS,))
    yield Fault("gels: what scaled A is not undone", file, "a.undo_inverse(solution);", "", (CALLS,))
    yield Fault("gels: what scaled B is not undone", file, "b.undo(solution);", "", (CALLS,))
    for shape, rows, first in (("tall", "m", "n"), ("wide", "n", "m")):
        right = f"Block<T>{{{rows}, nrhs, B, ldb}}.zero({first});"
        yield Fault(f"gels of a {shape} matrix: rows under the right sides are read", file, right, "", (CALLS,))
    right = "const Scaled<T> b(all.top(op == Op::none ? m : n));"
    yield Fault("gels: scales by rows that are not there yet", file, right, "const Scaled<T> b(all);", (CALLS,))
    right = "    b.undo(solution);\n"
    yield Fault("gels: one element is off by 1e-12", file, right, f"{right}    {off('B[0]')}\n", (CALLS,))
    wrong = f"{right}    if (all.rows < ldb) B[all.rows] = T(0);\n"
    yield Fault("gels: writes a row below B", file, right, wrong, (CALLS,))


def little_memory():
    file = "src/blas/factorizations/one_by_one.cpp"
    right = "each(v.k, (side == Side::left) == (v.forward() != plain),"
    yield Fault("QR without memory: reflectors in the wrong order", file, right, right.replace("!=", "=="), (BLAS,))
    right = "*x = T(1) - factor;"
    yield Fault("orgqr without memory: the diagonal is 1", file, right, "*x = T(1);", (BLAS,))
    right = "multiply_triangle(v.forward(), count,"
    yield Fault("larft without memory: a triangle is multiplied as the other", file, right, right.replace("(v.", "(!v."), (BLAS,))
    file = "src/drivers/routine.cpp"
    right = "return WorkMemory::leaves_room(std::size_t(workers) * each);"
    yield Fault("workers are called where they find no memory", file, right, "return std::size_t(workers) * each > 0;", (CALLS,))
    file = "src/engines/protocol/protocol.hpp"
    yield Fault("a task that the policy has no memory for is lost", file, "overflow_.add(task);", "", (ENGINES,))
    file = "src/interfaces/lapack/compute.cpp"
    right = "if (TellsOfNoMemory::any() && is_no_memory(failure)) throw NoMemoryForWork();"
    yield Fault("LAPACKE ends the program where there is no memory", file, right, "", (FACE,))
    file = "src/kernels/tiles/packed_reflectors.cpp"
    right = "const Index first = j / width * width;"
    yield Fault("geqrt by tasks: the triangles of wider blocks", file, right, "const Index first = 0 * width;", (CALLS,))
    file = "src/algorithms/forms/qr.cpp"
    right = "t.data[Index(j) % x.inner + Index(j) * t.ld]"
    yield Fault("gemqrt by tasks: every scalar from the first row", file, right, "t.data[Index(j) * t.ld]", (CALLS,))
