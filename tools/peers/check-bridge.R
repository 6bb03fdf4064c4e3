# One run of check-bridge.sh. Ends with status 1 if anything is wrong. References: base R, differences, and this
# package's own derivatives.
options(xlaffi.pjrt = commandArgs(trailingOnly = TRUE)[[1]])
Sys.setenv(XLA_FLAGS = sprintf("--xla_dump_to=%s --xla_dump_hlo_as_text", tempfile("hlo"))) # for inspect_hlo()
library(xlaffi)
suppressMessages(suppressWarnings(pjrt_client("cpu")))
array_of <- function(x, dtype = "f64") {
  if (is.null(dim(x)) && length(x) == 1L) anvl::nv_scalar(x, dtype) else anvl::nv_array(x, dtype)
}
plain <- function(x) {
  if (inherits(x, "AnvlArray")) as.vector(anvl::as_array(x)) else if (is.list(x)) lapply(x, plain) else as.vector(x)
}

wrong <- 0
check <- function(name, x, y, tolerance = 1e-8) {
  result <- tryCatch(
    {
      far <- all.equal(unlist(plain(x)), unlist(plain(y)), tolerance = tolerance, check.attributes = FALSE)
      if (isTRUE(far)) "ok" else paste("WRONG", far[[1]])
    },
    error = function(e) paste("ERROR", conditionMessage(e))
  )
  wrong <<- wrong + (result != "ok")
  cat(sprintf("%-60s %s\n", name, result))
}

# Central differences of a function of R data with one number for a result
differences <- function(f, x, step = 1e-5) {
  vapply(seq_along(x), function(i) {
    at <- function(change) replace(x, i, x[[i]] + change)
    (f(at(step)) - f(at(-step))) / (2 * step)
  }, 0)
}

# A function of values with one number for a result: its value, gradient and second derivatives in anvl
check_function <- function(name, f, x, reference = NULL) {
  made <- as_anvl(f, name = gsub(" ", "_", name))
  given <- array_of(x)
  compiled <- xla_jit(f)
  check(paste0(name, ": called at once"), made(given), compiled(x))
  if (!is.null(reference)) check(paste0(name, ": base R"), made(given), reference(x), 1e-6)
  both <- anvl::jit(anvl::value_and_gradient(function(x) made(x)))(given)
  check(paste0(name, ": value"), both$value, compiled(x))
  check(paste0(name, ": gradient"), both$grad$x, xla_grad(f)(x))
  check(paste0(name, ": gradient by differences"), both$grad$x, differences(compiled, x), 1e-5)
  weights <- seq_along(x) / length(x)
  if (!is.null(dim(x))) dim(weights) <- dim(x)
  along <- function(x, w) sum(anvl::gradient(function(x) made(x))(x)$x * w)
  second <- anvl::jit(anvl::gradient(along, wrt = "x"))(given, array_of(weights))
  check(paste0(name, ": second derivatives"), second$x, xla_jvp(xla_grad(f))(list(x), list(weights))$tangent)
  slope <- function(x) sum(xla_grad(f)(x) * weights)
  check(paste0(name, ": second derivatives by differences"), second$x, differences(slope, x), 1e-4)
}

set.seed(1)
m <- matrix(rnorm(9), 3) + 2 * diag(3)
cat("as_anvl()\n")
check_function("svd", function(x) sum(xla_svd(x)$d^3) + sum(xla_svd(x)$u[, 1]^4), m)
check_function("eigh", function(x) sum(xla_eigh(x + t(x))$values^3), m, function(x) sum(eigen(x + t(x))$values^3))
check_function("qr", function(x) sum(xla_qr(x)$r^3) + sum(xla_qr(x)$q * c(1, 2, 3)), m)
check_function("lu", function(x) sum(xla_lu(x)$u^2) + sum(xla_lu(x)$l^3), m)
check_function("chol", function(x) sum(xla_chol(x %*% t(x))^3), m, function(x) sum(chol(x %*% t(x))^3))
check_function("solve", function(x) sum(xla_solve(x, c(1, 2, 3))^3), m, function(x) sum(solve(x, c(1, 2, 3))^3))
check_function("words of R", function(x) log(det(x %*% t(x))) + sum(sin(x)[1, ] * cumsum(x[, 2])), m)
check_function("loop", function(x) {
  turn <- function(carry, x) list(carry * 0.5 + hlo_cond(x > 0, function() x^2, function() sin(x)), carry)
  hlo_scan(turn, 0, x)$carry^2
}, c(0.5, -1, 2, 0.1))
check_function("own op", local({
  cube <- ffi_elementwise("x: T -> y: T", "y = x * x * x")
  function(x) sum(cube(x))
}), c(0.5, -1, 2), function(x) sum(x^3))
check_function("special function", function(x) sum(lgamma(x) * besselJ(x, 1)), c(0.5, 1.5, 2))

kepler_of <- as_anvl(function(mean, e) kepler(mean, e))
found <- kepler_of(array_of(c(0.1, 1)), array_of(c(0.5, 0.3)))
check("several results by name", found, kepler(c(0.1, 1), c(0.5, 0.3)))
callback <- ffi_callback(function(x) rev(x), "x: f64[n] -> y: f64[n]")
check("R function", anvl::jit(function(x) as_anvl(callback)(x))(array_of(c(1, 2, 3))), c(3, 2, 1))
single <- as_anvl(function(x) xla_svd(x)$d)(array_of(m, "f32"))
check("f32", single, svd(m)$d, 1e-5)
check("f32 stays f32", as.character(anvl::dtype(single)), "f32")
check("numbers adapt", as_anvl(function(x, k) x * k)(array_of(c(1, 2), "f32"), 2), c(2, 4))
check("static arguments", as_anvl(xla_qr, static = c("dtype", "program"))(array_of(m), dtype = "f32"), xla_qr(m), 1e-5)
nested <- as_anvl(function(p) list(a = p$a * 2, b = list(p$b[[1]] + p$a)))
check("nested lists", anvl::jit(nested)(list(a = array_of(c(1, 2)), b = list(array_of(c(3, 4))))), c(2, 4, 4, 6))
logical <- as_anvl(function(x) x > 1)
check("logicals", logical(array_of(c(0, 2))), c(FALSE, TRUE))
norm <- as_anvl(function(x) x / sqrt(sum(x^2)), name = "norm")
power <- function(x) {
  turn <- function(i, v) list(i = i + 1L, v = norm(v * array_of(c(1, 2))))
  anvl::nv_while(list(i = 1L, v = x), function(i, v) i <= 3L, turn)$v
}
check("in a loop of anvl's", anvl::jit(power)(array_of(c(1, 1))), c(1, 8) / sqrt(65))
one <- function(x) sum(as_anvl(function(x) xla_svd(x)$d)(x))
graph <- anvl::trace_fn(anvl::value_and_gradient(one), list(x = anvl::nv_aval("f64", c(3, 3))))
text <- stablehlo::repr(anvl::stablehlo(graph)[[1]])
optimized <- unclass(inspect_hlo(pjrt_program(text))$after_optimizations)
calls <- regmatches(optimized, gregexpr("custom_call_target=\"xlaffi.svd", optimized, fixed = TRUE))
check("value and gradient share one svd", lengths(calls), 1L)

cat("from_anvl()\n")
# The same function in anvl's words and in ours
check_other <- function(name, g, f, x, second = TRUE) {
  op <- from_anvl(g)
  check(paste0(name, ": value"), xla_jit(function(x) op(x))(x), xla_jit(f)(x))
  check(paste0(name, ": gradient"), xla_grad(op)(x), xla_grad(f)(x))
  change <- x / 3 + 0.1
  check(paste0(name, ": forward mode"), xla_jvp(op)(list(x), list(change)), xla_jvp(f)(list(x), list(change)))
  if (second) {
    check(paste0(name, ": second derivatives"), xla_hessian(op)(x), xla_hessian(f)(x))
    twice <- function(f) xla_grad(function(x) sum(xla_grad(f)(x)^2))
    check(paste0(name, ": reverse over reverse"), twice(op)(x), twice(f)(x))
  }
}
waves <- function(x) sum(exp(x) * sin(x) / (x + 4))
check_other("elementwise", waves, waves, c(1, 2))
check_other("matrices", function(x) sum(anvl::nv_matmul(x, t(x))^2), function(x) sum((x %*% t(x))^2), m)
right <- array_of(matrix(c(1, 2, 3), 3))
solved <- from_anvl(function(x) sum(solve(x, right)^2))
check("solve: value", solved(m), sum(solve(m, c(1, 2, 3))^2))
message <- tryCatch(xla_grad(solved)(m), error = conditionMessage)
check("what anvl has no rule for is told", grepl("No reverse rule for primitive", message), TRUE)
check_other("chol", function(x) sum(anvl::nv_chol(anvl::nv_matmul(x, t(x)))^3), function(x) {
  sum(t(xla_chol(x %*% t(x)))^3)
}, m)
captured <- array_of(c(2, 3))
check_other("captured arrays", function(x) sum(x * captured * x * 2), function(x) sum(x * c(2, 3) * x * 2), c(1, 2))
check_other("jitted", anvl::jit(function(x) sum(x * x * x)), function(x) sum(x^3), c(1, 2))
ours <- as_anvl(function(x) xla_svd(x)$d)
check_other("as_anvl() within", function(x) sum(ours(x)^3), function(x) sum(xla_svd(x)$d^3), m)
batch <- xla_vmap(from_anvl(function(x) exp(x) * captured))(rbind(c(1, 2), c(3, 4)))
check("batches", batch, exp(rbind(c(1, 2), c(3, 4))) * rbind(c(2, 3), c(2, 3)))
several <- from_anvl(function(p, y) list(s = p$x + y, i = anvl::nv_argmax(p$x, dim = 1L)))
check("several results", several(list(x = c(1, 5, 2)), 1:3 * 1), list(s = c(2, 7, 5), i = 2L))
slope <- xla_grad(function(x) sum(several(list(x = x), x)$s^2))
check("gradient beside an integer result", slope(c(1, 5)), 8 * c(1, 5))
qr_of <- from_anvl(function(x) anvl::nv_qr(x))
check("custom calls of anvl's", qr_of(m), xla_qr(m))
back <- as_anvl(function(x) from_anvl(function(x) x * x)(x) * 3)
check("from_anvl() within as_anvl()", anvl::jit(anvl::gradient(function(x) sum(back(x))))(array_of(c(1, 2))), c(6, 12))
check("buffers", as_array(from_anvl(function(x) x + x)(pjrt_buffer(c(1, 2), "f32"))), c(2, 4))
cat(sprintf("%d wrong\n", wrong))
quit(status = as.integer(wrong > 0))
