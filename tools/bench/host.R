# What moving data and calling a compiled program cost from R, beside the other ways
# there are: JAX through reticulate, and {pjrt} where it is installed. One process, in turn.

library(xlaffi)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "timing.R"))

add <- function(type) {
  sprintf(
    "func.func @main(%%a: tensor<%s>, %%b: tensor<%s>) -> tensor<%s> {
       %%0 = stablehlo.add %%a, %%b : tensor<%s>
       return %%0 : tensor<%s>
     }",
    type, type, type, type, type
  )
}

# Each way of doing it: upload(x, dtype), execute(a, b) which waits, read(buffer)
ours <- function(type) {
  exec <- pjrt_compile(pjrt_program(add(type)))
  list(
    upload = function(x, dtype) pjrt_buffer(x, dtype),
    execute = function(a, b) await(pjrt_execute(exec, a, b)),
    launch = function(a, b) pjrt_execute(exec, a, b),
    read = function(buffer) as_array(buffer)
  )
}

jax_by_reticulate <- function(type) {
  ok <- requireNamespace("reticulate", quietly = TRUE) && reticulate::py_module_available("jax")
  if (!ok) return(NULL)
  jax <- reticulate::import("jax")
  np <- reticulate::import("numpy", convert = FALSE)
  jax$config$update("jax_enable_x64", TRUE)
  jnp <- reticulate::import("jax.numpy", convert = FALSE)
  plus <- reticulate::py_run_string("
import jax
plus = jax.jit(lambda a, b: a + b)
", convert = FALSE)$plus
  list(
    upload = function(x, dtype) jnp$asarray(x, dtype = c(f32 = "float32", f64 = "float64")[[dtype]]),
    execute = function(a, b) plus(a, b)$block_until_ready(),
    launch = function(a, b) plus(a, b),
    read = function(buffer) reticulate::py_to_r(np$asarray(buffer))
  )
}

pjrt_package <- function(type) {
  if (!requireNamespace("pjrt", quietly = TRUE)) return(NULL)
  exec <- pjrt::pjrt_compile(pjrt::pjrt_program(add(type)))
  list(
    upload = function(x, dtype) pjrt::pjrt_buffer(x, dtype),
    execute = function(a, b) pjrt::await(pjrt::pjrt_execute(exec, a, b)),
    launch = function(a, b) pjrt::pjrt_execute(exec, a, b),
    read = function(buffer) pjrt::as_array(buffer)
  )
}

ways <- function(type) {
  Filter(
    Negate(is.null),
    list(xlaffi = ours(type), `JAX by reticulate` = jax_by_reticulate(type), `{pjrt}` = pjrt_package(type))
  )
}

case <- function(ways, f) alternate(lapply(ways, f))

results <- list()
x <- matrix(c(1, 2, 3, 4), 2)
small <- ways("2x2xf32")
results[["2x2 f32: upload"]] <- case(small, function(w) function() w$upload(x, "f32"))
results[["2x2 f32: execute and wait"]] <- case(small, function(w) {
  a <- w$upload(x, "f32")
  function() w$execute(a, a)
})
results[["2x2 f32: read back"]] <- case(small, function(w) {
  a <- w$upload(x, "f32")
  function() w$read(a)
})
results[["2x2 f32: two uploads, execute, read back"]] <- case(small, function(w) {
  function() w$read(w$launch(w$upload(x, "f32"), w$upload(x, "f32")))
})

set.seed(1)
x <- matrix(rnorm(4e6), 2000)
large <- ways("2000x2000xf64")
results[["2000x2000 f64: upload"]] <- case(large, function(w) function() w$upload(x, "f64"))
results[["2000x2000 f64: read back"]] <- case(large, function(w) {
  a <- w$upload(x, "f64")
  function() w$read(a)
})

cpu <- grep("model name", readLines("/proc/cpuinfo"), value = TRUE)
versions <- c(
  paste("xlaffi", packageVersion("xlaffi")),
  paste("R", getRversion()),
  if ("JAX by reticulate" %in% names(small)) {
    jaxlib <- reticulate::import("jaxlib")$version$`__version__`
    paste(c("jaxlib", "reticulate"), c(jaxlib, format(packageVersion("reticulate"))))
  },
  if ("{pjrt}" %in% names(small)) paste("pjrt", packageVersion("pjrt"))
)
text <- c(
  as_markdown(results),
  "",
  paste0(
    paste(versions, collapse = ", "), "; ", parallel::detectCores(), " cores, ",
    sub(".*: ", "", cpu[1]), "; medians of 15 rounds in turn, one process; ", Sys.Date(), "."
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-host.md"))
