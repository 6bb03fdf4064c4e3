# What random programs are made of: one pattern of R code per line. A name with a dot in front is a hole:
#
# .a  numbers or logicals      .d  doubles              .v  a vector of doubles    .s  one double
# .m  a matrix of doubles      .q  a square matrix      .S  positive definite      .A  an array of three axes
# .u  positive doubles         .p  doubles within (0, 1)                           .h  doubles that are counts
# .i  integers                 .l  logicals             .z  complex numbers        .e  anything, odd numbers too
# .j  integers of which some may be NA
# .k  1, 2 or 3, as R's number .K  positions, as R's    .c  a number of R's        .n  a count that is 2 or 3
# .body_t, .body_r, .body_w: what functions compute of one number `t`, of numbers `r` (one number), of `w` (as many)
# Patterns with several statements stay on one line.
# nolint start: brace_linter, semicolon_linter.
grammar <- list(
  arithmetic = alist(
    .a + .a, .a - .a, .a * .a, .a / .a, .a^2, .a^3, .u^.d, .u^0.5, 2^.d, .a^.n, -.a, +.a, .a %% .a, .a %/% .a, .a + .c,
    .c - .a, .a * .c, .c / .a, .a / .c, .a %% .c, .a %/% .c, .i + .i, .i - .i, .i * .i, .i / .i, .i %/% .i, .i %% .i,
    .i^.i, -.i, .i + 1L, .i * 2L, .i %/% 2L, .i %% 3L, .l + .l, .l * .d, .l - .i, -.l, .e + .e, .e - .e, .e * .e,
    .e / .e, .e^2, .e^.e, .e %% .c, .e %/% .c, .z + .z, .z - .z, .z * .z, .z / .z, .z + .a, .a * .z, .z^2, -.z
  ),
  comparison = alist(
    .a > .a, .a < .a, .a >= .a, .a <= .a, .a == .a, .a != .a, .a > .c, .a <= .c, .i == .i, .i > 1L, .l == .l, .l > .l,
    .z == .z, .z != .z, .l & .l, .l | .l, !.l, xor(.l, .l), !.i, .i & .l, .a == .a[.k], is.na(.e), is.nan(.e),
    is.finite(.e), is.infinite(.e), anyNA(.e), any(.l), all(.l), any(.a > .c), all(.a > .c), .a %in% .a,
    match(.a, .a), match(.i, .i, 0L), is.element(.s, .v), .e > .c, .e == .e
  ),
  math = alist(
    exp(.d), log(.u), log(.u, 3), log2(.u), log10(.u), log1p(.u), expm1(.d), sqrt(.u), abs(.a), sin(.d), cos(.d),
    tan(.p), asin(.p), acos(.p), atan(.d), sinh(.d), cosh(.d), tanh(.d), asinh(.d), acosh(.u + 1), atanh(.p), sinpi(.d),
    cospi(.d), tanpi(.p), atan2(.d, .u), floor(.a), ceiling(.a), trunc(.a), round(.a), round(.d, 1), signif(.d, 2),
    sign(.a), sqrt(abs(.i)), exp(.i), exp(.l), abs(.e), exp(.e), log(.e), sqrt(.e), sin(.e), tanh(.e), floor(.e),
    round(.e), sign(.e), trunc(.e), atan(.e), log1p(.e), expm1(.e), atan2(.e, .e), round(.i), floor(.l), zapsmall(.v)
  ),
  special = alist(
    gamma(.u), lgamma(.u), digamma(.u), trigamma(.u), beta(.u, .u), lbeta(.u, .p), choose(5, .h), choose(.u, .n),
    lchoose(8, .h), factorial(.h), lfactorial(.u), besselJ(.u, 0), besselI(.u, 1), besselK(.u, .n), besselY(.u, 1),
    besselI(.u, .u, TRUE), psigamma(.u, 2), lgamma(.d), gamma(.d), digamma(.d), lgamma(.e), gamma(.e)
  ),
  sums = alist(
    sum(.a), sum(.a, .a), sum(.a, 1), prod(.v), prod(.p), max(.a), min(.a), max(.a, .c), min(.a, .a), range(.a),
    mean(.a), which.max(.a), which.min(.a), var(.v), sd(.v), var(.v, .v), median(.v), median(.i), mean(.l), sum(.l),
    quantile(.v, 0.3), quantile(.v, .p), quantile(.v, c(0, 0.25, 1)), cor(.v, .v), cov(.m), cor(.m), var(.m),
    pmin(.a, .a), pmax(.a, .c), pmax(.a, .a), length(.a), mad(.v), IQR(.v), fivenum(.v), weighted.mean(.v, .u),
    colMeans(.m), rowMeans(.m), rowSums(.m), colSums(.m), colSums(.m > .c), cumsum(.a), cumprod(.p), cummax(.a),
    cummin(.a), diff(.v), diff(.v, lag = 2), diff(.i), diff(.m), sum(.e), max(.e), min(.e), mean(.e), range(.e),
    sum(.e, na.rm = TRUE), mean(.e, na.rm = TRUE), max(.e, na.rm = TRUE), cumsum(.e), cummax(.e), cummin(.e),
    prod(.e), pmin(.e, .e), pmax(.e, .c), which.max(.e), range(.e, na.rm = TRUE), pmin(.e, .e, na.rm = TRUE),
    scale(.m), scale(.m, scale = FALSE), prop.table(.u), mean(.v, trim = 0.2), sum(.z), prod(.z), mean(.z), sum(.i),
    rowsum(.m, .group_m), max.col(.m, "first"), cumsum(.l)
  ),
  matrices = alist(
    .m %*% t(.m), .m %*% .m, .q %*% .q, .m %*% .v, .v %*% .m, t(.m), t(.v), crossprod(.m), tcrossprod(.m),
    crossprod(.m, .m), crossprod(.v), outer(.v, .v), outer(.v, .v, "+"), .v %o% .v,
    outer(.v, .v, function(a, b) a - b * b), kronecker(.q, .m), diag(.v), diag(.m), diag(.n) * .s, sum(diag(.q)),
    solve(.S), solve(.S, .m), solve(.S, .v), det(.S), det(.q), chol(.S), chol2inv(chol(.S)), norm(.m), norm(.m, "F"),
    norm(.m, "I"), norm(.m, "M"), svd(.m)$d, eigen(.S, symmetric = TRUE)$values, determinant(.S)$modulus[1],
    backsolve(chol(.S), .v), forwardsolve(t(chol(.S)), .v), sweep(.m, 2, colMeans(.m)), sweep(.m, 1, rowSums(.m), "*"),
    cbind(.v, .v), rbind(.v, .v), cbind(1, .v), cbind(.m, .m), rbind(.m, .m), cbind(.m, .i), rbind(.l, .i),
    upper.tri(.q) * .q, lower.tri(.q) * .q, row(.m) + .m, col(.m) * .m, mahalanobis(.m, colMeans(.m), .S),
    cov2cor(.S), toeplitz(.v), .i %*% .i, matrix(.i, 2) %*% matrix(.l, 2), .z %*% .z, qr.solve(.S, .v), crossprod(.z),
    max(abs(.q - t(.q))), .q %*% .S %*% t(.q)
  ),
  sparse = sparse_grammar,
  shapes = alist(
    c(.a, .a), c(.a, .c), c(.z, .a), rev(.a), rep(.a, 2), rep(.a, each = 2), rep(.v, times = .n), rep_len(.a, 7),
    rep(.a, length.out = 5), head(.v, 2), head(.v, -1), tail(.v, 2), tail(.m, 1), head(.m, 1), append(.v, .s, 1),
    matrix(.a, 2), matrix(.a, 2, 2), matrix(.a, 1), matrix(.a, ncol = 1), matrix(.a, 3, byrow = TRUE), matrix(.s, 2, 3),
    array(.a, c(1, 2, 2)), array(.a, c(2, 3)), array(.v, 3), aperm(.A), aperm(.A, c(2, 3, 1)), as.vector(.a), c(.m),
    drop(.m), unlist(list(.a, .a)), as.matrix(.v), dim(.m), nrow(.m), length(.A), t(.e), rev(.e), c(.e, .a), .A[, , .k],
    .A[1, , ], .A[.k, 1, , drop = FALSE], local({r <- .a; dim(r) <- NULL; r}), local({r <- .a; length(r) <- 4; r}),
    embed(.v, 2), asplit(.m, 1)[[1]], split(.v, .group_v)[[1]], seq(.s, by = .c, length.out = 3), setNames(.v, NULL),
    as.numeric(.a), as.integer(.a), as.logical(.a), as.complex(.a), as.double(.l), as.integer(.l), as.logical(.i),
    as.numeric(.i), diff(c(0, .v)), rbind(.A[1, , ], 1), matrix(numeric(0), 0, 3), sum(numeric(0) * .v[0]), .v[0],
    .m[0, ],
    .m[, 0, drop = FALSE], cbind(.m[, 0], .m), c(.v[0], .v), max(.v[0], .s), colSums(.m[0, , drop = FALSE]),
    prod(.v[0]), rowSums(.m[, 0, drop = FALSE]), .v[0] + .s, t(.m[0, , drop = FALSE]), .m[, 0] %*% .m[0, , drop = FALSE]
  ),
  indices = alist(
    .a[.k], .v[.K], .v[-.k], .v[-.K], .v[c(TRUE, FALSE)], .v[[.k]], .v[length(.v)], .m[.k, ], .m[, .k], .m[1, 2],
    .m[1:2, ], .m[-1, ], .m[.k, , drop = FALSE], .m[.K, 1], .m[.k], .m[cbind(c(1, 2), c(2, 1))], .m[-1, -1], .i[.k],
    .l[.K], .z[.k], .v[.i1], .v[.i1 + 1L], .m[.i1, ], .m[, .i1], .v[order(.v)], .v[rev(seq_along(.v))], .e[.K], .v[7],
    .v[c(1, 0, 2)], .v[c(1, 9)], .m[2, , drop = TRUE], .q[upper.tri(.q)], .v[0:2], .A[1, 2, 1], .A[, 1, 2:1], .v[2:1],
    local({r <- .v; r[.k] <- .s; r}), local({r <- .v; r[.K] <- .s; r}), local({r <- .v; r[-1] <- 0; r}),
    local({r <- .v; r[r > .s] <- .c; r}), local({r <- .a; r[r > 0] <- 0L; r}), local({r <- .m; r[.k, ] <- .c; r}),
    local({r <- .m; r[, 1] <- .s; r}), local({r <- .m; r[1, 2] <- .s; r}), local({r <- .m; r[r < 0] <- 0; r}),
    local({r <- .m; r[1:2, 1] <- c(.s, .s); r}), local({r <- .i; r[.k] <- .i[1]; r}), local({r <- .i; r[2] <- .s; r}),
    local({r <- .l; r[1] <- .s > 0; r}), local({r <- .l; r[2] <- .i[1]; r}), local({r <- .v; r[.i1] <- .s; r}),
    local({r <- .v; r[[.k]] <- .s; r}), local({r <- .v; r[1:2] <- .v[2:1]; r}), local({r <- .q; diag(r) <- .s; r}),
    local({r <- .m; r[cbind(1:2, 2:1)] <- .s; r}), local({r <- .v; r[7] <- .s; r}), local({r <- .m; r[.i1, 1] <- 9; r}),
    replace(.v, .k, .s), ifelse(.a > .c, .a, .a), ifelse(.l, .s, .c), ifelse(.v > .s, .v, 0), ifelse(.i > 1L, .i, 0L),
    local({r <- .z; r[1] <- .s; r}), local({r <- .A; r[1, , 2] <- .s; r}), local({r <- .v; r[2] <- .z[1]; r})
  ),
  elements = alist(
    sapply(.v, function(t) .body_t), sapply(1:3, function(t) .body_t), vapply(.v, function(t) .body_t, 0),
    unlist(lapply(.v, function(t) .body_t)), apply(.m, 1, function(r) .body_r), apply(.m, 2, function(r) .body_r),
    apply(.m, 1, function(w) .body_w), apply(.m, c(1, 2), function(t) .body_t), apply(.A, 3, function(r) .body_r),
    apply(.A, c(1, 3), function(r) .body_r), mapply(function(t, u) t * u + 1, .v, .v), Reduce(`+`, list(.a, .a, .a)),
    Reduce(function(a, b) a * 0.5 + b, .v), Reduce(`+`, .v, accumulate = TRUE), Map(function(t) .body_t, list(.v))[[1]],
    sapply(1:3, function(j) .v[j] * j), do.call(rbind, list(.v, .v)), do.call("sum", list(.v, .s)), sapply(.i,
    function(t) t * 2L),
    local({r <- .s; for (j in 1:3) r <- r * 0.5 + j; r}), local({r <- 0; for (t in .v) r <- r + .body_t; r}),
    local({w <- .v; for (j in 2:3) w[j] <- w[j - 1] * 0.5 + w[j]; w}), local({r <- .m; for (j in 1:2) r[j, ] <- r[j,
    ] * j; r}),
    local({w <- .v; for (j in 1:2) w <- .body_w; w}), local({r <- .v; for (j in seq_along(r)) r[j] <- r[j] + j; r}),
    outer(.v, 1:3, Vectorize(function(t, j) .body_t)), tapply(.v, .group_v, function(r) .body_r), sapply(list(.v, .v),
    sum),
    (function(t) .body_t)(.d), (function(r) .body_r)(.v), (function(w) .body_w)(.v), ave(.v, .group_v), Reduce(max, .v),
    replicate(2, .s), vapply(1:2, function(j) .m[, j] * j, .m[, 1]), sapply(.v, function(t) c(t, t^2)),
    sapply(.l, function(t) !t), mean(sapply(.v, function(t) .body_t)), if (length(.v) > 2) .v else .s
  ),
  sorting = alist(
    sort(.a), sort(.v, decreasing = TRUE), order(.a), order(.v, decreasing = TRUE), rank(.a), rev(sort(.v)),
    .v[order(.v)],
    rank(.v, ties.method = "min"), findInterval(.v, c(-1, 0, 1)), order(.v, .v), sort(.i), rank(.i,
    ties.method = "first"),
    order(-.a), sort(.l), order(.e), rank(.v, ties.method = "max"), is.unsorted(.v), tabulate(.i1, 4), sort(.e,
    na.last = TRUE),
    order(.i, .v), order(.v, decreasing = TRUE, na.last = TRUE), approx(sort(.u), .v, .v)$y, cumsum(rev(.v))
  ),
  complex = alist(
    Re(.z), Im(.z), Mod(.z), Arg(.z), Conj(.z), abs(.z), exp(.z), sqrt(.z), log(.z), sin(.z), cos(.z), cumsum(.z),
    .d * 1i,
    complex(real = .v, imaginary = .s), complex(modulus = .u, argument = .d), fft(.v), fft(.z), Re(fft(fft(.v),
    inverse = TRUE)),
    mvfft(.m), Re(.d), Im(.v), Conj(.v), t(.z), convolve(.v, .v, type = "open"), Mod(fft(.v)), as.complex(.i), rev(.z),
    is.na(.z), Arg(.v), tanh(.z), cumprod(.z), bitwAnd(abs(.i), 5L), bitwOr(abs(.i), 1L), bitwXor(.i1, 3L),
    bitwNot(.i), fft(.m)
  ),
  missing = alist(
    .i[max(.i1) + 8L], .i[c(1L, 9L) + .i1[1] - 1L],
    c(.i, .j), c(.j, .d), c(.j, .l), .j[.k], .j[[1]], rev(.j), rep(.j, 2), head(.j, 2), -.j,
    abs(.j), .j + .i, .j - 1L, .j * 2L, .j %/% 2L, .j %% 3L, .i %/% 0L, .i %% (.i1 - 2L), .j + .s, .j / 2L, .j^2,
    .s * .j, is.na(.j), anyNA(.j), is.finite(.j), sum(.j), sum(.j, na.rm = TRUE), mean(.j), mean(.j, na.rm = TRUE),
    max(.j), min(.j, na.rm = TRUE), range(.j, na.rm = TRUE), prod(.j), cumsum(.j), cummax(.j), cumprod(.j),
    median(.j), var(.j), sd(.j, na.rm = TRUE), as.double(.j), as.integer(.j),
    as.complex(.j), sqrt(.j), sign(.j), round(.j), exp(.j), pmin(.j, .i), pmax(.j, 1L), pmin(.j, 2L, na.rm = TRUE),
    which.max(.j), diff(.j), sort(.j, na.last = TRUE), order(.j), rank(.j), ifelse(is.na(.j), 0L, .j),
    .j > 1L, .j == .j, any(.j > 1L), .j %in% .i, match(.j, .i), matrix(.j, 2), t(.j), outer(.j, 1:2), .j %*% .j,
    crossprod(.j), colSums(matrix(.j, 2)), dpois(.j, 2), quantile(.j, 0.5, na.rm = TRUE), fivenum(.j), scale(.j),
    tabulate(.j, 4), cbind(.j, .i), rowSums(cbind(.j, .i)), replace(.i, 2, .j[1]), replace(.j, is.na(.j), 7L),
    sapply(.j, function(t) t * 2L), Reduce(`+`, .j), bitwAnd(.j, 3L), weighted.mean(.j, .u), cor(.j, .j),
    apply(matrix(.j, 2), 1, sum), .v[abs(.j) + 1L], findInterval(.j, c(0, 2)), choose(5L, .j), gamma(.j), atan2(.j, .s),
    cov(.j, .j), zapsmall(.j), factorial(.j), mad(.j), as.logical(.j), !.j, .j & .l, xor(.j, .l)
  ),
  distributions = alist(
    dnorm(.d, .s, .u), pnorm(.d, .s, .u), qnorm(.p, .s, .u), dgamma(.u, .u, .u), pgamma(.u, .u), qgamma(.p, .u),
    dbeta(.p, .u, .u), pbeta(.p, .u, .u), qbeta(.p, .u, .u), dt(.d, .u), pt(.d, .u), qt(.p, .u), dchisq(.u, .u),
    pchisq(.u, .u),
    qchisq(.p, .u), df(.u, .u, .u), pf(.u, .u, .u), qf(.p, .u, .u), dexp(.u, .u), pexp(.u, .u), qexp(.p, .u),
    dweibull(.u, .u, .u),
    pweibull(.u, .u, .u), qweibull(.p, .u, .u), dlnorm(.u, .s, .u), plnorm(.u, .s, .u), qlnorm(.p, .s, .u), dlogis(.d,
    .s, .u),
    plogis(.d, .s, .u), qlogis(.p, .s, .u), dpois(.h, .u), ppois(.h, .u), qpois(.p, .u), dbinom(.h, 8, .p), pbinom(.h,
    8, .p),
    qbinom(.p, 8, .p), dnbinom(.h, .u, .p), pnbinom(.h, .u, .p), qnbinom(.p, .u, .p), dgeom(.h, .p), pgeom(.h, .p),
    dcauchy(.d, .s, .u),
    pcauchy(.d, .s, .u), qcauchy(.p), dunif(.d, -1, 2), punif(.d, -1, 2), qunif(.p, .s, .s + 1), qgeom(.p, .p),
    dnorm(.d, log = TRUE), pnorm(.d, lower.tail = FALSE, log.p = TRUE), dgamma(.d, .u, log = TRUE), pgamma(.d, .u,
    lower.tail = FALSE),
    dbeta(.d, .u, .u), pbeta(.p, .u, .u, lower.tail = FALSE, log.p = TRUE), pt(.d, .u, log.p = TRUE), dpois(.i, .u,
    log = TRUE),
    ppois(.i, .u, FALSE), dbinom(.i, 5, .p, TRUE), dnorm(.e), pnorm(.e), dgamma(.e, .u), pbeta(.e, .u, .u), dpois(.e,
    2), qnorm(.e),
    dmultinom(c(1, 2, 0), prob = .u), pgamma(.e, .u), pexp(.e), plnorm(.e), pt(.e, .u), pbinom(.e, 5, 0.3), dexp(.d),
    dunif(.e),
    pweibull(.d, .u), dt(.e, 3), qgamma(.p, .u, lower.tail = FALSE), qnorm(-.u, log.p = TRUE), dcauchy(.e), plogis(.e,
    log.p = TRUE)
  )
)

# What functions in the patterns compute.
grammar_bodies <- list(
  .body_t = alist(
    t^2, t * 2 + .c, exp(-abs(t)), max(t, 0), abs(t) + .s, sqrt(t^2 + 1), t / 2, -t, ifelse(t > 0, t, -t), sin(t) * t,
    sum(t, .v), pmin(t, .c), t * .s, tanh(t), c(t)
  ),
  .body_r = alist(
    sum(r), max(r) - min(r), mean(r^2), sum(r * rev(r)), sd(c(r, 1)), r[1] * 2, length(r), prod(abs(r) + 0.5),
    sqrt(sum(r^2)), which.max(r), median(r), sum(r > 0), sum(sort(r)[1]), any(r > 1), r[1] + .s, sum(diff(c(r, 0)))
  ),
  .body_w = alist(
    w * 2, rev(w), cumsum(w), w - mean(w), w / (1 + sum(abs(w))), sort(w), w[seq_along(w)] + .s, pmax(w, 0), w^2 - w, -w
  )
)
# nolint end
