# One order of check-both.sh: who makes a client first. Ends with status 1 if anything is wrong.
first <- commandArgs(trailingOnly = TRUE)[[1]]
# Neither warns of a name that the other has taken.
options(warn = 2)
for (package in unique(c(first, "pjrt", "xlaffi"))) {
  suppressMessages(getExportedValue(package, "pjrt_client")("cpu"))
}
suppressMessages(library(xlaffi))

wrong <- 0
check <- function(name, condition) {
  result <- tryCatch(if (isTRUE(condition)) "ok" else "WRONG", error = conditionMessage)
  wrong <<- wrong + (result != "ok")
  cat(sprintf("%-40s %s\n", name, result))
}
each <- function(f) max(vapply(1:5, f, 0)) < 1e-9

set.seed(1)
m <- array(rnorm(5 * 16), c(5, 4, 4))
s <- array(t(vapply(1:5, function(i) c(crossprod(m[i, , ]) + diag(4)), numeric(16))), c(5, 4, 4))

check("svd of a batch", {
  d <- xla_svd(m)$d
  each(function(i) max(abs(d[i, ] - svd(m[i, , ])$d)))
})
check("qr of a batch", {
  qr <- xla_qr(m)
  each(function(i) max(abs(qr$q[i, , ] %*% qr$r[i, , ] - m[i, , ])))
})
check("eigenvalues of a batch", {
  values <- xla_eigh(s)$values
  each(function(i) max(abs(sort(values[i, ]) - sort(eigen(s[i, , ])$values))))
})
check("Cholesky factors of a batch", {
  r <- xla_chol(s)
  each(function(i) abs(prod(diag(r[i, , ]))^2 / det(s[i, , ]) - 1))
})
check("solutions of a batch", {
  b <- array(rnorm(20), c(5, 4))
  x <- xla_solve(m, b)
  each(function(i) max(abs(m[i, , ] %*% x[i, ] - b[i, ])))
})
check("Kepler's equation", {
  found <- kepler(0.3, 0.1)
  angle <- atan2(found$sin, found$cos)
  abs(angle - 0.1 * sin(angle) - 0.3) < 1e-12
})

lu <- "func.func @main(%x: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>) {
  %r:2 = stablehlo.custom_call @lu(%x) {api_version = 4 : i32,
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0]> : tensor<1xindex>]
  } : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xi32>)
  return %r#0, %r#1 : tensor<3x3xf64>, tensor<3xi32>
}"
x <- matrix(rnorm(9), 3)
theirs <- pjrt::pjrt_execute(pjrt::pjrt_compile(pjrt::pjrt_program(lu)), pjrt::pjrt_buffer(x, "f64"))
ours <- pjrt_execute(pjrt_compile(pjrt_program(lu)), pjrt_buffer(x, "f64"))
check("one program on both hosts", all.equal(pjrt::as_array(theirs[[1]]), as_array(ours[[1]])))
check("a buffer of the other host is refused", {
  exec <- pjrt_compile(pjrt_program(lu))
  grepl("must be a buffer", tryCatch(pjrt_execute(exec, theirs[[1]]), error = conditionMessage))
})

# 200 programs that print, and loops that do, captured and not: on another thread than R's pjrt's handler would end R.
printing <- function(k) {
  xla_jit(function(x) {
    hlo_custom_call("print_tensor", x + k, list(), has_side_effect = TRUE)
    x
  })
}
in_loop <- xla_jit(function(x) {
  hlo_fori(1, 60, function(i, x) {
    hlo_custom_call("print_tensor", x, list(), has_side_effect = TRUE)
    x + 1
  }, x)
})
shown <- function(values) c(rbind("PJRTBuffer", paste0(" ", values), "[ f64{1} ]"))
check("100 captured prints", all.equal(capture.output(for (k in 1:100) printing(k)(0)), shown(1:100)))
check("captured prints of a loop", all.equal(capture.output(last <- in_loop(0)), shown(0:59)))
for (k in 101:200) printing(k)(0)
check("a loop that prints", in_loop(0) == 60 && last == 60)
# pjrt's handler by a name of its own: on R's thread
theirs <- getExportedValue("pjrt", "pjrt_register_custom_call")
theirs("print_as_pjrt", list(host = get("get_print_handler", asNamespace("pjrt"))()))
loop <- xla_jit(function(x) {
  hlo_fori(1, 60, function(i, x) {
    hlo_custom_call("print_as_pjrt", x, list(), has_side_effect = TRUE)
    x + 1
  }, x)
})
printed <- capture.output(for (k in 1:3) loop(0))
check("pjrt's own handler in a loop", sum(printed == "PJRTBuffer") == 180)

# Two prints of one program, in its order, and before what R writes next.
two <- "func.func @main(%x: tensor<2xf32>) {
  stablehlo.custom_call @print_tensor(%x) {api_version = 4 : i32, has_side_effect = true,
    backend_config = {print_header = \"first\"}} : (tensor<2xf32>) -> ()
  stablehlo.custom_call @print_tensor(%x) {api_version = 4 : i32, has_side_effect = true,
    backend_config = {print_header = \"second\"}} : (tensor<2xf32>) -> ()
  return
}"
# In a process whose output is read, since pjrt's own handler does not write through R.
for (host in c("pjrt", "xlaffi")) {
  code <- sprintf("
    for (package in c('%s', 'pjrt', 'xlaffi')) {
      suppressMessages(getExportedValue(package, 'pjrt_client')('cpu'))
    }
    library(%s, warn.conflicts = FALSE)
    program <- pjrt_compile(pjrt_program('%s'))
    x <- pjrt_buffer(c(1, 2))
    { invisible(pjrt_execute(program, x)); cat('behind\\n') }
  ", first, host, two)
  file <- tempfile(fileext = ".R")
  writeLines(code, file)
  output <- system2(file.path(R.home("bin"), "Rscript"), file, stdout = TRUE, stderr = FALSE)
  lines <- Filter(function(line) line %in% c("first", "second", "behind"), output)
  check(sprintf("prints of a program on %s", host), identical(lines, c("first", "second", "behind")))
}
quit(status = as.integer(wrong > 0))
