! Solves a positive definite system under LAPACK's own names: dposv is served by trencadis, ddot and dsyev by the library
! behind it.
program posv
    implicit none
    integer, parameter :: n = 200
    double precision :: a(n, n), factor(n, n), x(n), b(n), w(n), work(40*n)
    double precision, external :: ddot
    integer :: i, info
    call random_number(a)
    a = a + transpose(a)
    do i = 1, n
        a(i, i) = a(i, i) + 2*n
    end do
    x = 1
    b = matmul(a, x)
    factor = a
    call dposv('L', n, 1, factor, n, b, n, info)
    if (info /= 0) error stop 'not positive definite'
    b = b - x
    if (ddot(n, b, 1, b, 1) > 1d-20) error stop 'a wrong solution'
    call dsyev('N', 'L', n, a, n, w, work, 40*n, info)
    if (info /= 0 .or. w(1) <= 0) error stop 'wrong eigenvalues'
    print '(a, f0.3, a, f0.3)', 'solved; eigenvalues from ', w(1), ' to ', w(n)
end program
