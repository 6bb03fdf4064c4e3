# The main job on real input: run by `make demo` once the package is installed.

suppressPackageStartupMessages(library(xlaffi))

timed <- function(what, expr) {
  t0 <- Sys.time()
  value <- force(expr)
  ms <- 1000 * as.numeric(difftime(Sys.time(), t0, units = "secs"))
  cli::cli_alert_success(paste0(what, " ({format(round(ms, 2), nsmall = 2)} ms)"))
  value
}

# Relative difference, worst element
worst <- function(x, y) max(abs(x - y) / abs(y))

extdata <- function(name) system.file("extdata", name, package = "xlaffi", mustWork = TRUE)

cli::cli_h1("xlaffi: XLA custom calls from R")
client <- timed("Start XLA on the CPU", pjrt_client("cpu"))
cli::cli_bullets(c(" " = "plugin: {.val {platform(client)}}, {length(devices(client))} device{?s}"))

cli::cli_h2("(a) A StableHLO program that prints a tensor on its way")
src <- r"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  stablehlo.custom_call @print_tensor(%x) {
    call_target_name = "print_tensor",
    backend_config = {
      print_header = "my matrix",
      print_footer = "----"
    },
    has_side_effect = true,
    api_version = 4 : i32,
    operand_layouts = [dense<[1, 0]> : tensor<2xindex>],
    result_layouts = []
  } : (tensor<2x3xf32>) -> ()

  "func.return"(%x) : (tensor<2x3xf32>) -> ()
}
)"
cat(src)
exec <- timed("Compile", pjrt_compile(pjrt_program(src)))
buf <- timed("Upload a 2x3 matrix as f32", pjrt_buffer(matrix(1:6, nrow = 2, ncol = 3), dtype = "f32"))
out <- timed("Execute: the Rust handler prints", pjrt_execute(exec, buf))
print(timed("Read the result back", as_array(out)))

cli::cli_h2("(b) Least squares on R's {.code longley}, with our {.code lu} inside the program")
cli::cli_text(
  "Seven nearly dependent columns: Longley (1967) used them to appraise regression programs ",
  "(condition number {format(kappa(model.matrix(Employed ~ ., longley), exact = TRUE), digits = 2)})."
)
x <- model.matrix(Employed ~ ., longley)
y <- longley$Employed
exec <- timed(
  "Compile {.file regression.mlir}",
  pjrt_compile(pjrt_program(path = extdata("regression.mlir"), format = "mlir"))
)
args <- timed("Upload X and y as f64", list(pjrt_buffer(unname(x), "f64"), pjrt_buffer(y, "f64")))
fit <- timed("Execute: scale, assemble, lu, solve, refine", pjrt_execute(exec, args[[1]], args[[2]]))
beta <- drop(as_array(fit[[1]]))
reference <- lm(Employed ~ ., longley)
print(data.frame(xlaffi = beta, lm = coef(reference)), digits = 10)
cli::cli_bullets(c(
  "i" = "largest relative difference of a coefficient: {format(worst(beta, coef(reference)), digits = 2)}",
  "i" = "largest difference of a residual: {format(max(abs(as_array(fit[[2]]) - resid(reference))), digits = 2)}"
))

cli::cli_h2("(c) A program exported by JAX, run from R")
cli::cli_text(
  "{.file puromycin.mlir} was written by {.code jax.export}: Gauss-Newton with JAX's own derivatives ",
  "for rate = vmax * conc / (km + conc) on R's {.code Puromycin}."
)
treated <- subset(Puromycin, state == "treated")
exec <- timed(
  "Compile {.file puromycin.mlir}",
  pjrt_compile(pjrt_program(path = extdata("puromycin.mlir"), format = "mlir"))
)
fit <- timed(
  "Upload and execute",
  pjrt_execute(
    exec,
    pjrt_buffer(treated$conc, "f64"),
    pjrt_buffer(treated$rate, "f64"),
    pjrt_buffer(c(200, 0.05), "f64")
  )
)
here <- unlist(lapply(fit, as_array))
jax <- utils::read.csv(extdata("puromycin-jax.csv"))
nls_fit <- nls(rate ~ vmax * conc / (km + conc), treated, start = list(vmax = 200, km = 0.05))
print(
  data.frame(
    row.names = make.unique(jax$quantity),
    xlaffi = here,
    jax = jax$value,
    nls = c(coef(nls_fit), vcov(nls_fit), deviance(nls_fit))
  ),
  digits = 10
)
cli::cli_bullets(c(
  "i" = "largest relative difference to JAX's own result: {format(worst(here, jax$value), digits = 2)}"
))

stopifnot(
  worst(beta, coef(reference)) < 1e-8,
  worst(here, jax$value) < 1e-10
)
cli::cli_alert_success("All three ran in XLA, from R.")
