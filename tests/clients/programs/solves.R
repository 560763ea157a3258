# What R users call for a dense system; every result is held against its definition, in norms. Ends with status 1 at the first
# that is wrong.
set.seed(1)
n <- 300
size <- function(M) norm(as.matrix(M), "F")
A <- matrix(rnorm(n * n), n)
B <- matrix(rnorm(n * 5), n)
near <- function(what, error, scale) {
    # Backward errors of LU and Cholesky with pivots that do not grow are a few eps sqrt(n); 10 n eps leaves room for any order of
    # summation.
    bound <- 10 * n * .Machine$double.eps * scale
    if (!(error <= bound)) stop(sprintf("%s: %g, at most %g", what, error, bound))
}
X <- solve(A, B)
near("solve(A, B)", size(B - A %*% X), size(A) * size(X))
inverse <- solve(A)
near("solve(A)", size(A %*% inverse - diag(n)), size(A) * size(inverse))

P <- crossprod(A) + diag(n)
product <- t(A) %*% A + diag(n)
near("crossprod", size(P - product), size(A)^2)
near("tcrossprod", size(tcrossprod(A) - A %*% t(A)), size(A)^2)
near("%*% by a vector's sums", size(colSums(A %*% B) - colSums(A) %*% B), size(A) * size(B) * sqrt(n))
R <- chol(P)
near("chol", size(P - t(R) %*% R), size(P))
if (any(R[lower.tri(R)] != 0)) stop("chol: not upper triangular")
near("chol2inv", size(P %*% chol2inv(R) - diag(n)), size(P) * size(chol2inv(R)))
Y <- backsolve(R, B)
near("backsolve", size(B - R %*% Y), size(R) * size(Y))
if (inherits(try(chol(P - 2 * diag(diag(P))), silent = TRUE), "try-error") == FALSE) stop("chol took an indefinite matrix")

# log |det A| by LU and by Cholesky of A' A, whose condition number is that of A squared.
by_lu <- as.numeric(determinant(A)$modulus)
by_cholesky <- sum(log(diag(chol(crossprod(A)))))
near("determinant", abs(by_lu - by_cholesky), n * kappa(A, exact = TRUE)^2)
if (det(A[1:50, 1:50]) * det(solve(A[1:50, 1:50])) - 1 > 1e-8) stop("det")
singular <- A
singular[, 7] <- 0
said <- tryCatch(solve(singular, B), error = conditionMessage)
if (!identical(grepl("U\\[7,7\\] = 0", said), TRUE)) stop("solve(singular): ", said)

C <- matrix(complex(real = rnorm(n * n), imaginary = rnorm(n * n)), n)
Z <- solve(C, B + 0i)
near("complex solve", size(abs(B - C %*% Z)), size(abs(C)) * size(abs(Z)))
# Column pivoting (geqp3) is the library's behind us; what is done with the reflectors is ours, and the singular values of a tall
# matrix begin with QR.
qr_is_right <- function(A) {
    columns <- ncol(A)
    adjoint <- Conj(t(A))
    factors <- qr(A, LAPACK = TRUE)
    Q <- qr.Q(factors)
    near("qr", size(Mod(Q %*% qr.R(factors) - A[, factors$pivot])), size(Mod(A)))
    near("qr.Q", size(Mod(Conj(t(Q)) %*% Q - diag(columns))), 1)
    b <- A[, 1] + A[, 2] * 2
    x <- qr.coef(factors, b)
    # Of the normal equations: the solution leaves what no column reaches.
    near("qr.coef", size(Mod(adjoint %*% (b - A %*% x))), size(Mod(A))^2 * size(Mod(x)))
    parts <- svd(A)
    near("svd", size(Mod(A - parts$u %*% diag(parts$d) %*% Conj(t(parts$v)))), size(Mod(A)))
}
qr_is_right(matrix(rnorm(8 * n * 40), 8 * n))
qr_is_right(C[, 1:20])
cat("right\n")
