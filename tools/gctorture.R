# The functions of the glue with a collection at each allocation of R's: what they do not protect is
# gone then, and its place taken by what comes next. Results are compared with those of a run without.
#
#   tools/with-env.sh Rscript tools/gctorture.R [CASE...]     all cases by default
#
# Cases that go through the package's own R code allocate thousands of times: there it is each
# 101st allocation, in three runs that begin elsewhere.
library(xlaffi)

glue <- function(name, ...) .Call(get(paste0("wrap__", name), asNamespace("xlaffi")), ...)

program <- "func.func @main(%x: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<3x2xf64>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>
  return %x, %0 : tensor<2x3xf64>, tensor<3x2xf64>
}"
prints <- "func.func @main(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  stablehlo.custom_call @print_tensor(%x) {has_side_effect = true, api_version = 4 : i32} : (tensor<2x3xf64>) -> ()
  return %x : tensor<2x3xf64>
}"
refused <- "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @nobody(%x) {api_version = 4 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"
unsized <- "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}"

x <- matrix(as.numeric(1:6), 2)
client <- pjrt_client("cpu", cpu_device_count = 2L)
device <- pjrt_device("cpu:0")
buffer <- pjrt_buffer(x, "f64")
exec <- pjrt_compile(pjrt_program(program))
printing <- pjrt_compile(pjrt_program(prints))
# The word alone keeps a program off R's thread.
waiting <- pjrt_compile(pjrt_program(paste("// while", prints, sep = "\n")))
long <- bit64::as.integer64(1:3)
plugin <- pjrt_plugin("cpu")
both <- pjrt_compile(pjrt_program(program), pjrt_compile_options(num_replicas = 2L))
parts <- lapply(devices(both), function(device) pjrt_buffer(x, "f64", device))
lu <- ffi_handler("lu", "host")

# What a run ends with.
finished <- function(run) {
  if (inherits(run, "xlaffi_launched")) run <- unclass(run)[[1L]]
  while (inherits(run, "xlaffi_run")) {
    done <- glue("run_wait", run, 1)
    if (!is.null(done)) run <- done
  }
  if (is.list(run)) unclass(run) else run
}
round_trip <- function(...) glue("buffer_to_r", glue("buffer_from_r", ...))
execute <- function(what) finished(glue("executable_execute", what, list(buffer), NULL, TRUE, FALSE, FALSE))
call_with <- function(..., read = FALSE) {
  finished(glue("executable_call", exec, list(...), list("f64"), device, read, FALSE))
}
read <- function(results) lapply(results, function(r) if (is.numeric(r)) r else glue("buffer_to_r", r))
scale <- 2
doubled <- xla_jit(function(x) x * scale)
pair <- xla_jit(function(x, y) list(sum = x + y, x * y))
ill <- xla_jit(function(x) hlo_custom_call("lu", x, list(x, ffi_type("i32", 5))))
slope <- xla_objective(function(p) sum((p - 1)^4), c(a = 0, b = 0))
condition <- function(expression) {
  tryCatch(expression, xlaffi_error = function(e) list(class(e), conditionMessage(e), e$code, e$operand))
}

cases <- list(
  upload = function() round_trip(x, "f32", device, NULL),
  sequence = function() round_trip(1:6, NULL, NULL, c(2, 3)),
  integer64 = function() round_trip(long, "ui64", NULL, NULL),
  complex = function() round_trip(x + 1i, NULL, NULL, NULL),
  logical = function() round_trip(x > 2, NULL, NULL, NULL),
  scalar = function() round_trip(2.5, "bf16", device, integer()),
  raw = function() {
    up <- glue("buffer_from_raw", as.raw(1:6), "ui8", device, c(2L, 3L), TRUE)
    list(glue("buffer_to_raw", up, FALSE), glue("buffer_to_raw", up, TRUE), glue("buffer_to_r", up))
  },
  empty = function() dim(glue("buffer_to_r", glue("buffer_empty", "f32", device, c(2, 0)))),
  now = function() glue("buffer_to_r_now", buffer),
  wait = function() glue("buffer_wait", buffer, 1),
  describe = function() glue("buffer_describe", buffer),
  device = function() list(glue("buffer_device", buffer), glue("device_describe", device)),
  copy = function() glue("buffer_to_r", glue("buffer_copy", buffer, device)),
  lines = function() glue("buffer_lines", buffer, 30, 85, 30),
  literals = function() glue("buffer_literals", buffer),
  dtypes = function() list(glue("dtype_table"), glue("dtype_parse", "bool")),
  failures = function() {
    list(
      glue("dtype_parse", "none"), glue("buffer_describe", data.frame()),
      glue("buffer_from_r", x, "f32", device, c(4, 4)), glue("registry_handler", "nobody", "host"),
      glue("executable_execute", exec, list(buffer, buffer), NULL, TRUE, FALSE, FALSE),
      glue("plugin_open", "/nowhere.so", "nowhere")$code
    )
  },
  identity = function() is.character(glue("identity_text", glue("identity_new"))),
  signature = function() {
    list(glue("signature", "f", list(a = buffer, b = x, 1L, long)), glue("signature", "f", list("text")))
  },
  compile = function() {
    class(finished(glue("client_compile", device, glue("program_new", program, "mlir"), NULL)))
  },
  refused = function() {
    class(finished(glue("client_compile", device, glue("program_new", refused, "mlir"), NULL)))
  },
  execute = function() read(execute(exec)),
  # On R's thread as soon as the program was quick, where text is written at once.
  printed = function() {
    results <- NULL
    written <- utils::capture.output(results <- execute(printing))
    list(unlist(strsplit(c(written, glue("printed")), "\n")), read(results))
  },
  queued = function() {
    results <- execute(waiting)
    list(glue("printed"), read(results))
  },
  call = function() list(read(call_with(x)), read(call_with(buffer)), call_with(x, read = TRUE)),
  call_refused = function() {
    list(call_with(1:2), glue("executable_call", exec, list("text"), list("f64"), device, TRUE, TRUE))
  },
  info = function() glue("executable_info", exec),
  several = function() lapply(finished(glue("executable_execute", both, list(parts), NULL, TRUE, FALSE, FALSE)), read),
  several_info = function() glue("executable_info", both),
  several_refused = function() {
    run <- function(...) finished(glue("executable_execute", both, list(...), NULL, TRUE, FALSE, FALSE))
    list(run(parts[1L]), run(parts[[1L]]), run(rev(parts)), run(parts, parts))
  },
  program = function() {
    list(
      glue("program_info", glue("program_new", program, "mlir")),
      glue("program_info", glue("program_new", as.raw(1:9), "hlo"))
    )
  },
  refine = function() glue("program_info", glue("program_refine", glue("program_new", unsized, "mlir"), list(3))),
  plugin = function() list(glue("plugin_info", plugin), glue("plugin_attributes_list", plugin)),
  devices = function() list(length(glue("client_devices", client)), glue("client_platform", client)),
  targets = function() glue("registry_list"),
  handler = function() class(glue("registry_handler", "lu", "host")),
  registration = function() {
    glue("handler_check", lu, "tortured", "host")
    new <- glue("registry_register", "tortured", "host", lu, "nobody")
    again <- glue("registry_register", "tortured", "host", lu, NULL)
    passed <- glue("plugin_pass_on", plugin, "tortured")
    gone <- glue("registry_withdraw", "tortured", "host")
    forgotten <- glue("registry_forget", "nobody")
    waited <- glue("withdrawn_wait", gone$calls, 1)
    list(new, again, passed, gone$count, forgotten$count, waited)
  },
  about = function() list(glue("lapack_report"), glue("cuda_libraries"))
)
through_r <- list(
  conditions = function() {
    list(
      condition(pjrt_buffer(x, "none")), condition(pjrt_buffer(NA, check = TRUE)),
      condition(pjrt_execute(exec, buffer, buffer)), condition(as_array(1)),
      condition(ffi_handler("nobody", "host")), condition(pjrt_compile(pjrt_program(refused)))[[3L]]
    )
  },
  functions = function() {
    f <- xla_jit(function(a, b) a %*% b + 1)
    as_array(f(pjrt_buffer(x), pjrt_buffer(t(x))))
  },
  again = function() {
    list(
      doubled(c(a = 1, b = 2)), pair(x, x), lapply(pair(buffer, buffer), as_array), condition(ill(x)),
      slope$fn(c(1, 2)), slope$gr(c(a = 3, b = 2)), slope$gr(c(4, 2))
    )
  },
  tables = function() list(ffi_targets(), utils::capture.output(print(buffer)), format(buffer))
)

under <- function(case, step, wait = 0L) {
  gctorture2(step, wait)
  on.exit(gctorture2(0L))
  case()
}
chosen <- commandArgs(trailingOnly = TRUE)
unknown <- setdiff(chosen, names(c(cases, through_r)))
if (length(unknown)) stop("no cases ", toString(unknown))
if (!length(chosen)) chosen <- names(c(cases, through_r))

wrong <- character()
for (name in chosen) {
  case <- c(cases, through_r)[[name]]
  started <- proc.time()[["elapsed"]]
  expected <- case()
  # Once more: what is only made once is there now.
  stopifnot(identical(case(), expected))
  if (name %in% names(cases)) {
    got <- list(under(case, 1L))
  } else {
    got <- lapply(c(0L, 37L, 71L), function(wait) under(case, 101L, wait))
  }
  holds <- all(vapply(got, identical, NA, expected))
  if (!holds) wrong <- c(wrong, name)
  cat(sprintf("%-12s %6.1f s  %s\n", name, proc.time()[["elapsed"]] - started, if (holds) "holds" else "OTHER RESULTS"))
}
if (length(wrong)) stop("other results under gctorture: ", toString(wrong))
cat(length(chosen), "cases hold under gctorture\n")
