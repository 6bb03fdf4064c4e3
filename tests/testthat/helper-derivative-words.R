# Where derivatives of R's functions on values are checked, those of distributions aside.

# Element by element: an expression and points
element_points <- list(
  abs = list("abs(x)", x = c(-2, 0.3, 5)), acos = list("acos(x)", x = c(-0.9, 0, 0.5)),
  acosh = list("acosh(x)", x = c(1.2, 3, 500)), asin = list("asin(x)", x = c(-0.9, 0, 0.5)),
  asinh = list("asinh(x)", x = c(-3, 0, 500)), atan = list("atan(x)", x = c(-3, 0, 500)),
  atan2 = list("atan2(y, x)", y = c(-3, 2, 0.5), x = c(-1, 0, 400)), atanh = list("atanh(x)", x = c(-0.9, 0, 0.5)),
  cos = list("cos(x)", x = c(-3, 0, 50)), cosh = list("cosh(x)", x = c(-3, 0, 50)),
  cospi = list("cospi(x)", x = c(-3.2, 0, 50.5)), exp = list("exp(x)", x = c(-300, 0, 20)),
  expm1 = list("expm1(x)", x = c(-30, 1e-10, 20)),
  log = list("log(x, base)", x = c(1e-100, 0.7, 1e6), base = c(2, 10, 0.3)),
  log10 = list("log10(x)", x = c(1e-100, 0.7, 1e6)), log1p = list("log1p(x)", x = c(-0.9, 1e-10, 1e6)),
  log2 = list("log2(x)", x = c(1e-100, 0.7, 1e6)), sin = list("sin(x)", x = c(-3, 0, 50)),
  sinh = list("sinh(x)", x = c(-3, 0, 50)), sinpi = list("sinpi(x)", x = c(-3.2, 0, 50.5)),
  sqrt = list("sqrt(x)", x = c(1e-100, 0.7, 1e6)), tan = list("tan(x)", x = c(-3, 0, 1.5)),
  tanh = list("tanh(x)", x = c(-20, 0, 1.5)), tanpi = list("tanpi(x)", x = c(-3.2, 0, 0.4)),
  "+" = list("x + y", x = c(-2, 3), y = c(0.5, 1e5)), "-" = list("x - y", x = c(-2, 3), y = c(0.5, 1e5)),
  "*" = list("x * y", x = c(-2, 3), y = c(0.5, 1e5)), "/" = list("x / y", x = c(-2, 3), y = c(0.5, 1e5)),
  "^" = list("x^y", x = c(0.4, 3, 2, 2), y = c(-2.5, 2, 0.5, 0)),
  "%%" = list("x %% y", x = c(-2, 3.3), y = c(0.7, -1.4)),
  "%/%" = list("x * (x %/% y)", x = c(-2, 3.3), y = c(0.7, -1.4)),
  hlo_add = list("hlo_add(x, y)", x = c(-2, 3), y = c(0.5, 1e5)),
  hlo_atan2 = list("hlo_atan2(y, x)", y = c(-3, 2, 0.5), x = c(-1, 0, 400)),
  hlo_logistic = list("hlo_logistic(x)", x = c(-300, 0, 3, 40)),
  hlo_max = list("hlo_max(x * x, y)", x = c(-2, 3), y = c(0.5, 10)),
  hlo_min = list("hlo_min(x * x, y)", x = c(-2, 3), y = c(0.5, 10)),
  hlo_rsqrt = list("hlo_rsqrt(x)", x = c(1e-100, 0.7, 1e6)),
  hlo_log1pexp = list("hlo_log1pexp(x)", x = c(-800, -1, 0, 800)),
  hlo_log1mexp = list("hlo_log1mexp(x)", x = c(1e-20, 0.3, 2, 800)),
  hlo_logaddexp = list("hlo_logaddexp(x, y)", x = c(-1000, 2, 3), y = c(-1001, 2, 800)),
  Re = list("Re(complex(real = x, imaginary = y)^2)", x = c(2, -3), y = c(0.5, 1)),
  Im = list("Im(complex(real = x, imaginary = y)^3)", x = c(2, -3), y = c(0.5, 1)),
  Mod = list("Mod(complex(real = x, imaginary = y))", x = c(2, -3), y = c(0.5, 1)),
  Arg = list("Arg(complex(real = x, imaginary = y))", x = c(2, -3), y = c(0.5, 1)),
  Conj = list("Im(exp(Conj(complex(real = x, imaginary = y))))", x = c(2, -3), y = c(0.5, 1)),
  complex = list("Re(exp(sqrt(complex(modulus = x, argument = y))))", x = c(2, 3), y = c(0.5, 1)),
  hlo_complex = list("hlo_real(1 / hlo_complex(x, y))", x = c(2, 3), y = c(0.5, 1)),
  hlo_real = list("hlo_real(hlo_complex(x, y)^2)", x = c(2, 3), y = c(0.5, 1)),
  hlo_imag = list("hlo_imag(log(hlo_complex(x, y)))", x = c(2, 3), y = c(0.5, 1)),
  hlo_conj = list("Im(tanh(hlo_conj(hlo_complex(x, y))))", x = c(2, 3), y = c(0.5, 1)),
  ifelse = list("ifelse(x > 1, x^2, sin(x))", x = c(0.2, 3)),
  hlo_select = list("hlo_select(x > 1, x^2, sin(x))", x = c(0.2, 3)),
  pmax = list("pmax(x, y^2)", x = c(0.2, 3), y = c(2, 1)), pmin = list("pmin(x, y^2)", x = c(0.2, 3), y = c(2, 1)),
  gamma = list("gamma(x)", x = c(0.4, 30, -1.5)), lgamma = list("lgamma(x)", x = c(0.4, 30, -1.5)),
  digamma = list("digamma(x)", x = c(0.4, 30, -1.5)), trigamma = list("trigamma(x)", x = c(0.4, 30, 2)),
  psigamma = list("psigamma(x, 2)", x = c(0.4, 30, 2)), factorial = list("factorial(x)", x = c(0.4, 30, 2)),
  lfactorial = list("lfactorial(x)", x = c(0.4, 30, 2)), beta = list("beta(a, b)", a = c(0.4, 3), b = c(5, 0.2)),
  lbeta = list("lbeta(a, b)", a = c(0.4, 3), b = c(5, 0.2)), choose = list("choose(n, 3)", n = c(5.5, -2.5, 30)),
  lchoose = list("lchoose(n, 3)", n = c(5.5, -2.5, 30)), besselJ = list("besselJ(x, 1.5)", x = c(0.4, 3, 30)),
  besselY = list("besselY(x, 1.5)", x = c(0.4, 3, 30)), besselI = list("besselI(x, 1.5)", x = c(0.4, 3, 30)),
  besselK = list("besselK(x, 1.5)", x = c(0.4, 3, 30)), hlo_erf = list("hlo_erf(x)", x = c(-2, 0, 3)),
  hlo_erfc = list("hlo_erfc(x)", x = c(-2, 0, 9)), hlo_erfcx = list("hlo_erfcx(x)", x = c(-2, 0, 50)),
  hlo_erfinv = list("hlo_erfinv(x)", x = c(-0.9, 0)), hlo_erfcinv = list("hlo_erfcinv(x)", x = c(1e-20, 1.5)),
  hlo_ndtr = list("hlo_ndtr(x)", x = c(-20, 3)), hlo_log_ndtr = list("hlo_log_ndtr(x)", x = c(-50, 3)),
  hlo_ndtri = list("hlo_ndtri(p)", p = c(1e-20, 0.9)), hlo_ndtri_exp = list("hlo_ndtri_exp(p)", p = c(-500, -0.1)),
  hlo_expint = list("hlo_expint(x, 2)", x = c(0.1, 3)), hlo_expint_ei = list("hlo_expint_ei(x)", x = c(-2, 3)),
  hlo_owens_t = list("hlo_owens_t(h, a)", h = c(0.5, -3), a = c(1.5, 0.2)),
  hlo_lambert_w = list("hlo_lambert_w(x)", x = c(-0.3, 1e5)),
  hlo_polygamma = list("hlo_polygamma(1, x)", x = c(0.1, 3)), hlo_zeta = list("hlo_zeta(2.5, x)", x = c(0.1, 3)),
  hlo_gammainc_p = list("hlo_gammainc_p(a, x)", a = c(2, 30), x = c(3, 10)),
  hlo_gammainc_q = list("hlo_gammainc_q(a, x, log = TRUE)", a = c(2, 30), x = c(3, 10)),
  hlo_gammainc_p_inv = list("hlo_gammainc_p_inv(a, p)", a = c(2, 30), p = c(0.3, 1e-5)),
  hlo_gammainc_q_inv = list("hlo_gammainc_q_inv(a, p, TRUE)", a = c(2, 30), p = c(-3, -0.1)),
  hlo_betainc = list("hlo_betainc(a, b, x, FALSE)", a = c(2, 30), b = c(4, 0.7), x = c(0.3, 0.9)),
  hlo_betainc_inv = list("hlo_betainc_inv(a, b, p)", a = c(2, 30), b = c(4, 0.7), p = c(0.3, 1e-3)),
  hlo_dbetabinom = list("hlo_dbetabinom(3, 8, mu, phi, log = TRUE)", mu = c(0.2, 0.9, 0.5), phi = c(0.3, 4, 1e3)),
  hlo_dtweedie = list("hlo_dtweedie(x, mu, phi, p, log = TRUE)",
    x = c(0.3, 4, 70, 0.01), mu = c(1, 2, 30, 0.2), phi = c(0.4, 2, 0.9, 1), p = c(1.2, 1.5, 1.8, 1.02)
  ),
  hlo_dcompois = list("hlo_dcompois(3, mu, nu, log = TRUE) + hlo_dcompois(2, nu = nu, lambda = mu, log = TRUE)",
    mu = c(0.7, 4, 12), nu = c(2.5, 0.8, 1.2)
  ),
  hlo_dgenpois = list("hlo_dgenpois(3, mu, phi, log = TRUE)", mu = c(0.7, 4, 12), phi = c(2.5, 0.8, 1.2)),
  hlo_dztpois = list("hlo_dztpois(3, lambda, log = TRUE)", lambda = c(1e-8, 4, 50)),
  hlo_dztnbinom = list("hlo_dztnbinom(3, n, p, log = TRUE) + hlo_dztnbinom(2, n, mu = 10 * p, log = TRUE)",
    n = c(0.5, 3), p = c(0.2, 0.8)
  ),
  hlo_dzerotruncated = list("hlo_dzerotruncated(2, dpois(2, mu, TRUE), -mu, TRUE)", mu = c(0.2, 8)),
  hlo_dzeroinflated = list(
    "hlo_dzeroinflated(0, p, dpois(0, mu, TRUE), TRUE) + hlo_dzeroinflated(3, p, dpois(3, mu, TRUE), TRUE)",
    p = c(0.2, 0.9), mu = c(0.2, 8)
  ),
  hlo_dordbeta = list(
    "hlo_dordbeta(0, z, s, a, b, TRUE) + hlo_dordbeta(0.3, z, s, a, b, TRUE) + hlo_dordbeta(1, z, s, a, b, TRUE)",
    z = c(0.5, -2), s = c(0.7, 12), a = c(-1, -3), b = c(0.4, 2)
  )
)

# Of a vector x of 6 numbers, m = matrix(x, 3) and a positive definite matrix s
whole_words <- c(
  hlo_logsumexp = "hlo_logsumexp(m, 1)", hlo_sum = "hlo_sum(m * m, 1)", colMeans = "colMeans(m)",
  colSums = "colSums(m)", rowMeans = "rowMeans(m)", rowSums = "rowSums(m)", cor = "cor(m)", cov = "cov(m)",
  cov2cor = "cov2cor(s)", cummax = "cummax(x)", cummin = "cummin(x)", cumprod = "cumprod(x)", cumsum = "cumsum(x)",
  filter = "filter(x, c(0.5, 0.2), 'recursive')", fivenum = "fivenum(x)", IQR = "IQR(x)", mad = "mad(x)",
  mahalanobis = "mahalanobis(m, c(0.1, 0.2), s)", margin.table = "margin.table(m, 1)",
  marginSums = "marginSums(m, 2)", max = "max(x)", mean = "mean(x)", median = "median(x)", min = "min(x)",
  prod = "prod(x)", prop.table = "prop.table(m^2, 1)", proportions = "proportions(m^2, 2)",
  quantile = "quantile(x, c(0.1, 0.6))", range = "range(x)", rowsum = "rowsum(x, c(1, 2, 1, 2, 1, 3))",
  scale = "scale(m)", sd = "sd(x)", sum = "sum(x, x^2)", sweep = "sweep(m, 2, x[1:2])", var = "var(x)",
  weighted.mean = "weighted.mean(x, exp(x))", approx = "approx(c(1, 2, 4, 7, 9, 11), x, c(1.5, 3, 8))$y",
  approxfun = "approxfun(x[1:3] + c(0, 10, 20), x[4:6])(c(7, 15))", hlo_top_k = "hlo_top_k(x, 2)[[1]]",
  sort = "sort(x)", sort.int = "sort.int(x, decreasing = TRUE)",
  spline = "spline(1:6, x, xout = c(1.5, 3, 5.2))$y", splinefun = "splinefun(1:6, x)(c(1.5, 3, 5.2) + x[1] / 9)",
  stepfun = "stepfun(1:5, x)(c(1.5, 3.3))", "%o%" = "x %o% x[1:2]", "%x%" = "m %x% x[1:2]",
  aperm = "aperm(array(x, c(1, 2, 3)), c(3, 1, 2))", append = "append(x, x[1:2], 2)", array = "array(x, c(2, 3))",
  as.array = "as.array(x)", as.complex = "as.complex(x) * (1 + 2i)", as.double = "as.double(x)",
  as.matrix = "as.matrix(x)", as.vector = "as.vector(m)", asplit = "asplit(m, 1)", c = "c(x, x[2])",
  cbind = "cbind(x, x^2)", "colnames<-" = "{colnames(m) <- c('a', 'b'); m}", colnames = "{colnames(m); m}",
  combn = "combn(x[1:4], 2)", diag = "diag(s)", "diag<-" = "{diag(s) <- x[1:2]; s}", diff = "diff(x, 2)",
  "dim<-" = "{dim(x) <- c(2, 3); x}", "dimnames<-" = "{dimnames(m) <- NULL; m}",
  drop = "drop(m[, 1, drop = FALSE])", embed = "embed(x, 2)", head = "head(x, 2)",
  hlo_broadcast = "hlo_broadcast(x, c(2, 6), 2)", hlo_concatenate = "hlo_concatenate(x, x^2, axis = 1)",
  hlo_convert = "hlo_convert(x, 'c128') * 1i", hlo_dynamic_slice = "hlo_dynamic_slice(x, list(2), 3)",
  hlo_dynamic_update_slice = "hlo_dynamic_update_slice(x, x[1:2]^2, list(3))",
  hlo_pad = "hlo_pad(x, x[[1]], 1, 2, 1)", hlo_reshape = "hlo_reshape(x, c(2, 3))",
  hlo_reverse = "hlo_reverse(x, 1)", hlo_slice = "hlo_slice(x, 2, 5, 2)", hlo_t = "hlo_t(m)",
  hlo_transpose = "hlo_transpose(m, 2:1)", kronecker = "kronecker(m, s)", "length<-" = "{length(x) <- 3; x}",
  matrix = "matrix(x, 2, byrow = TRUE)", "names<-" = "{names(x) <- letters[1:6]; x}",
  outer = "outer(x, x[1:2], function(a, b) a / (2 + b^2))", rbind = "rbind(x, x^2)", rep = "rep(x, each = 2)",
  rep_len = "rep_len(x, 8)", rep.int = "rep.int(x, 2)", rev = "rev(x)", row = "row(m) * m", col = "col(m) * m",
  rownames = "{rownames(m); m}", "rownames<-" = "{rownames(m) <- c('a', 'b', 'c'); m}",
  seq = "seq(x[1], x[3], length.out = 4)", setNames = "setNames(x, letters[1:6])",
  slice.index = "slice.index(m, 1) * m", t = "t(m)", tail = "tail(x, 2)", unlist = "unlist(list(x, x^2))",
  unname = "unname(x)", upper.tri = "upper.tri(s) * s", lower.tri = "lower.tri(s) * s",
  as.integer = "as.integer(x) * x", as.logical = "as.logical(x) * x", "%*%" = "m %*% t(m)",
  backsolve = "backsolve(chol(s), x[1:2])", chol = "chol(s)", chol2inv = "chol2inv(chol(s))",
  crossprod = "crossprod(m)", det = "det(s)", determinant = "determinant(s)$modulus",
  eigen = "{e <- eigen(s, symmetric = TRUE); list(e$values, e$vectors^2)}",
  forwardsolve = "forwardsolve(t(chol(s)), x[1:2])", hlo_dot = "hlo_dot(m, m, list(1, 1))",
  hlo_matmul = "hlo_matmul(m, s)",
  hlo_triangular_solve = "hlo_triangular_solve(s, m, left = FALSE, lower = TRUE)", norm = "norm(m, 'F')",
  qr.solve = "qr.solve(m, c(1, 2, 4))", solve = "solve(s, x[1:2])", svd = "{d <- svd(m); list(d$d, d$u^2, d$v^2)}",
  tcrossprod = "tcrossprod(m)", toeplitz = "toeplitz(x[1:3])", "[" = "x[c(2, 5, 2)]", "[[" = "x[[2]]",
  "[[<-" = "{x[[2]] <- x[[1]]^2; x}", "[<-" = "{x[2:3] <- x[5:6]^2; x}", replace = "replace(x, 2, x[3]^2)",
  apply = "apply(m, 1, function(r) sum(r^2))", as.list = "as.list(x)", ave = "ave(x, c(1, 1, 2, 2, 1, 2))",
  Filter = "Filter(function(v) TRUE, list(x, x^2))", Find = "Find(function(v) TRUE, list(x, x^2))",
  lapply = "lapply(1:2, function(i) x[i]^2)", Map = "Map(function(a, b) a * b, x, x)",
  mapply = "mapply(function(a, b) a * b, x, x)", Position = "Position(function(v) TRUE, list(x)) * x",
  rapply = "rapply(list(x), function(v) v^2, how = 'unlist')", Reduce = "Reduce(`*`, x, accumulate = TRUE)",
  replicate = "replicate(2, x^2)", sapply = "sapply(1:3, function(i) x[i]^i)",
  simplify2array = "simplify2array(list(x, x^2))", split = "split(x, c(1, 1, 2, 2, 1, 2))",
  tapply = "tapply(x, c(1, 1, 2, 2, 1, 2), sum)", vapply = "vapply(1:3, function(i) x[i]^2, 0)",
  Vectorize = "Vectorize(function(a, b) a * b)(x, 2)", fft = "fft(x)", mvfft = "mvfft(m)",
  convolve = "convolve(x, x[1:2], type = 'open')", hlo_rfft = "hlo_rfft(x)", hlo_irfft = "hlo_irfft(hlo_rfft(x), 6)",
  hlo_block_sum = "hlo_block_sum(function(v) sum(v^3), x, size = 3)",
  hlo_sparse = "hlo_sparse(x[1:3], c(1, 2, 2), c(1, 1, 2), symmetric = TRUE) %*% x[1:2]",
  hlo_nonzeros = "hlo_nonzeros(hlo_sparse(x[1:3], 1:3, 1:3) * x[2])",
  hlo_sparse_inverse = paste(
    "hlo_nonzeros(hlo_sparse_inverse(",
    "hlo_sparse(c(x[1:2]^2 + 3, x[3]), c(1, 2, 2), c(1, 2, 1), symmetric = TRUE)))"
  ),
  hlo_dmvnorm = paste(
    "{d <- hlo_dmvnorm; q <- hlo_sparse(c(x[1:2]^2 + 3, x[3]), c(1, 2, 2), c(1, 2, 1), symmetric = TRUE);",
    "list(d(m, x[1:2], s, log = TRUE), d(m, x[1:2], chol = chol(s), log = TRUE),",
    "d(m, x[1:2], precision = s, log = TRUE), d(m, m^2, precision = q, log = TRUE))}"
  ),
  hlo_dar1 = "hlo_dar1(m, tanh(x[1:3]), x[1:2], exp(x[4:6]), log = TRUE)",
  hlo_dseparable = paste(
    "{q <- hlo_sparse(c(x[1:2]^2 + 3, x[3]), c(1, 2, 2), c(1, 2, 1), symmetric = TRUE);",
    "hlo_dseparable(t(m), list(q, tcrossprod(x[1:3]) + diag(3)), m[1], log = TRUE)}"
  ),
  hlo_ddirichlet = "hlo_ddirichlet(exp(m), exp(x[1:2]), log = TRUE)",
  hlo_dlkj_cholesky = "hlo_dlkj_cholesky(chol(s), exp(x[1]), log = TRUE)",
  hlo_ar1_precision = "hlo_nonzeros(hlo_ar1_precision(3, tanh(x[1]), exp(x[2])))",
  hlo_corr_chol = "hlo_corr_chol(x[1:3], x[4:6])",
  hlo_spde_precision = paste(
    "{g <- hlo_sparse(x[1:3], c(1, 2, 2), c(1, 1, 2), symmetric = TRUE);",
    "data <- list(i = c(1, 2, 2), j = c(1, 1, 2), x = c(2, -1, 1));",
    "list(hlo_nonzeros(hlo_spde_precision(1:2, data, exp(x[1]), exp(x[2]))),",
    "hlo_nonzeros(hlo_spde_precision(exp(x[1:2]), g, x[4]^2 + 1, x[5])))}"
  ),
  hlo_case = "hlo_case(1L, list(function(v) v^2, sin), x)",
  hlo_cond = "hlo_cond(x[1] > 0, function(v) v^2, sin, x)",
  hlo_fori = "hlo_fori(1, 3, function(i, v) v * sin(v), x)",
  hlo_scan = "hlo_scan(function(s, v) list(s * 0.5 + v^2, s * v), x[[1]], x)",
  hlo_while = "hlo_while(function(i, v) i < 3, function(i, v) list(i + 1, v * sin(v)), list(0, x), max_iter = 3)[[2]]",
  dmultinom = "dmultinom(c(1, 0, 2), prob = abs(x[1:3]))", hlo_sample = "hlo_sample(hlo_key(1L), x, 4)",
  hlo_runif = "hlo_runif(hlo_key(1L), 2, x[1], x[1] + x[2]^2)",
  hlo_rnorm = "hlo_rnorm(hlo_key(1L), 2, x[1], x[2]^2)", hlo_rexp = "hlo_rexp(hlo_key(1L), 2, x[1]^2)",
  hlo_rcauchy = "hlo_rcauchy(hlo_key(1L), 2, x[1], x[2]^2)", hlo_rlogis = "hlo_rlogis(hlo_key(1L), 2, x[1], x[2]^2)",
  hlo_rweibull = "hlo_rweibull(hlo_key(1L), 2, x[1]^2, x[2]^2)",
  hlo_rlnorm = "hlo_rlnorm(hlo_key(1L), 2, x[1], x[2]^2)",
  hlo_rmvnorm = "hlo_rmvnorm(hlo_key(1L), 2, x[1:2], s)"
)

# Gamma numbers move so that the distribution function stays what it is, not as the number for another shape would:
# beside them stands what their quantiles give.
implicit_words <- c(
  hlo_rgamma = "hlo_rgamma(hlo_key(1L), 2, x[1]^2, x[2]^2)", hlo_rchisq = "hlo_rchisq(hlo_key(1L), 2, x[1]^2)",
  hlo_rbeta = "hlo_rbeta(hlo_key(1L), 2, x[1]^2, x[2]^2)", hlo_rt = "hlo_rt(hlo_key(1L), 2, x[1]^2)",
  hlo_rf = "hlo_rf(hlo_key(1L), 2, x[1]^2, x[2]^2)", hlo_rdirichlet = "hlo_rdirichlet(hlo_key(1L), 2, x[1:3]^2)"
)

# What has a derivative that other tests compare, and why not this one
derived_elsewhere <- list(
  "needs several devices" = c(
    "hlo_all_gather", "hlo_all_to_all", "hlo_pmax", "hlo_pmean", "hlo_pmin", "hlo_ppermute", "hlo_psum",
    "hlo_psum_scatter", "hlo_shard"
  ),
  "has the rules that its user gives" = "hlo_custom_call",
  "is a search or a solution in steps, whose files, test-solve-*.R and test-words-solvers.R, have derivatives" = c(
    "hlo_minimize", "hlo_root", "hlo_fixed_point", "hlo_integrate", "hlo_ode", "optim", "optimHess", "optimize",
    "optimise", "nlm", "nlminb", "uniroot", "integrate"
  )
)

whole_points <- rbind(c(0.7, -1.3, 2.5, 0.2, 3.1, -0.4), c(-1.1, 0.6, 1.9, 2.2, 0.35, 1.4))

element_case <- function(name) {
  points <- element_points[[name]]
  at <- points[-1L]
  list(name = name, at = at, f = function_of(names(at), str2lang(points[[1L]])))
}

whole_case <- function(name, code) {
  body <- bquote({
    m <- matrix(x, 3)
    s <- crossprod(m) + matrix(c(1, 0.1, 0.1, 2), 2)
    .(weighted_cubes)(.(str2lang(code)))
  })
  list(name = name, whole = TRUE, at = list(x = whole_points), f = function_of("x", body))
}

# One number of all that a function gives, with second derivatives also where that is linear
weighted_cubes <- function(result) {
  cubes <- function(x) {
    x <- hlo_reshape(x, length(x))
    hlo_sum(x * x * x * cos(seq_len(length(x)) / 3))
  }
  parts <- lapply(Filter(xlaffi:::is_value, xlaffi:::tree_leaves(result)), function(leaf) {
    if (xlaffi:::is_complex(dtype(leaf))) {
      cubes(Re(leaf)) + cubes(Im(leaf))
    } else if (xlaffi:::is_float(dtype(leaf))) {
      cubes(leaf)
    } else {
      0
    }
  })
  Reduce(`+`, parts)
}
