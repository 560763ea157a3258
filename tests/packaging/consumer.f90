! A stranger's program, linked with -llapack -lblas: the normal equations' residual A'(b - A x) of least squares by dgels, x by
! dgeqrf and dorgqr as well, and dgelqf of the transpose, whose L is R transposed but for signs.
program consumer
    implicit none
    integer, parameter :: m = 500, n = 150, length = 64 * m
    double precision :: A(m, n), F(m, n), L(n, m), x(m), b(m), r(m), y(n), tau(n), work(length)
    integer :: info, j, seed_size
    external :: dgels, dgeqrf, dorgqr, dgelqf, dtrsv, dgemv

    call random_seed(size=seed_size)
    call random_seed(put=[(j, j=1, seed_size)])
    call random_number(A)
    call random_number(b)

    F = A
    x = b
    call dgels('N', m, n, 1, F, m, x, m, work, length, info)
    if (info /= 0) error stop 1
    r = b
    call dgemv('N', m, n, -1d0, A, m, x, 1, 1d0, r, 1)
    if (maxval(abs(matmul(transpose(A), r))) > 1d-9) error stop 2

    F = A
    call dgeqrf(m, n, F, m, tau, work, length, info)
    if (info /= 0) error stop 3
    L = transpose(A)
    call dgelqf(n, m, L, n, y, work, length, info)
    if (info /= 0) error stop 4
    do j = 1, n
        if (maxval(abs(abs(L(j, 1:j)) - abs(F(1:j, j)))) > 1d-9) error stop 5
    end do
    L(:, 1:n) = F(1:n, :)
    call dorgqr(m, n, n, F, m, tau, work, length, info)
    if (info /= 0) error stop 6
    y = matmul(b, F)
    call dtrsv('U', 'N', 'N', n, L, n, y, 1)
    if (maxval(abs(y - x(1:n))) > 1d-9) error stop 7
    print '(a)', 'right'
end program
