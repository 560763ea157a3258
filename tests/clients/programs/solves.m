% What Octave users call for a dense system; every result is held against its definition, in norms. Ends with
% status 1 at the first that is wrong.
1;
function near (what, difference, scale)
  % As in solves.R.
  bound = 10 * 300 * eps (class (difference)) * scale;
  if (! (norm (difference, "fro") <= bound))
    error ("%s: %g, at most %g", what, norm (difference, "fro"), bound);
  endif
endfunction
function f = size_of (M)
  f = norm (M, "fro");
endfunction

function all_of (A, B)
  n = rows (A);
  one = eye (n, class (A));
  near ("A * B", sum (A * B) - sum (A) * B, size_of (A) * size_of (B) * sqrt (n));
  X = A \ B;
  near ("A \\ B", B - A * X, size_of (A) * size_of (X));
  X = A' \ B;
  near ("A' \\ B", B - A' * X, size_of (A) * size_of (X));
  inverse = inv (A);
  near ("inv", A * inverse - one, size_of (A) * size_of (inverse));
  [L, U, p] = lu (A, "vector");
  near ("lu", A(p,:) - L * U, size_of (A));
  [L, U] = lu (A(1:200,:));
  near ("lu, wide", A(1:200,:) - L * U, size_of (A));
  part = A(1:30,1:30); % of more rows it may be too large for single precision
  if (! (abs (det (part) * det (inv (part)) - 1) <= 1e4 * eps (class (A))))
    error ("det");
  endif
  P = A' * A + n * one;
  R = chol (P);
  near ("chol", P - R' * R, size_of (P));
  near ("chol, lower", P - chol (P, "lower") * R, size_of (P));
  X = P \ B;
  near ("P \\ B", B - P * X, size_of (P) * size_of (X));
  near ("chol2inv", P * chol2inv (R) - one, size_of (P) * size_of (inv (P)));
  X = R \ B;
  near ("R \\ B", B - R * X, size_of (R) * size_of (X));
  [Q, R] = qr (A(:,1:40), 0);
  near ("qr", A(:,1:40) - Q * R, size_of (A));
  near ("qr's Q", Q' * Q - one(1:40,1:40), 1);
  [Q, ~] = qr (A(1:40,:));
  near ("qr, wide", Q' * Q - one(1:40,1:40), 1);
  [U, S, V] = svd (A(:,1:20), "econ");
  near ("svd", A(:,1:20) - U * S * V', size_of (A));
  [~, bad] = chol (P - 2 * P(5,5) * (one(:,5) * one(5,:)));
  if (bad != 5)
    error ("chol: %d instead of 5", bad);
  endif
endfunction

randn ("seed", 1);
n = 300;
A = randn (n); B = randn (n, 5);
all_of (A, B);
all_of (single (A), single (B));
all_of (A + 1i * randn (n), B + 0i);
all_of (single (A + 1i * randn (n)), single (B + 0i));
A(:,7) = 0;
warning ("error", "Octave:singular-matrix");
try
  A \ B;
  error ("a singular matrix was solved with");
catch problem
  if (isempty (strfind (problem.message, "singular")))
    rethrow (problem);
  endif
end_try_catch
disp ("right");
