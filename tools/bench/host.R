# What moving data and calling a compiled program cost from R, beside JAX in Python (a process
# of its own that does its batches when asked to) and {pjrt} where it is installed, in turn.

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

# JAX answers over two pipes: the name of a case in, microseconds per call out
start_jax <- function() {
  dir <- tempfile("jax")
  dir.create(dir)
  pipes <- file.path(dir, c("ask", "answer"))
  system2("mkfifo", pipes)
  system2(Sys.getenv("XLAFFI_PYTHON"), c(file.path(here, "host_jax.py"), pipes), wait = FALSE)
  ask <- file(pipes[[1]], "w", raw = TRUE)
  answer <- file(pipes[[2]], "r", raw = TRUE)
  version <- readLines(answer, 1)
  if (!length(version)) stop("host_jax.py did not start; it needs jax")
  list(
    version = version,
    case = function(name) {
      function() {
        writeLines(name, ask)
        flush(ask)
        as.numeric(readLines(answer, 1))
      }
    }
  )
}

jax <- start_jax()
results <- list()
run <- function(name, ways, f, seconds = 0.02) {
  peers <- c(lapply(ways, function(way) batches(f(way), seconds)), list(`JAX in Python` = jax$case(name)))
  results[[name]] <<- alternate(peers[c("xlaffi", setdiff(names(peers), "xlaffi"))])
}
ways <- function(type) Filter(Negate(is.null), list(xlaffi = ours(type), `{pjrt}` = pjrt_package(type)))

x <- matrix(c(1, 2, 3, 4), 2)
small <- ways("2x2xf32")
run("2x2 f32: upload", small, function(w) function() w$upload(x, "f32"))
run("2x2 f32: execute and wait", small, function(w) {
  a <- w$upload(x, "f32")
  function() w$execute(a, a)
})
run("2x2 f32: read back", small, function(w) {
  a <- w$upload(x, "f32")
  function() w$read(a)
})
run("2x2 f32: two uploads, execute, read back", small, function(w) {
  function() w$read(w$launch(w$upload(x, "f32"), w$upload(x, "f32")))
})

set.seed(1)
x <- matrix(rnorm(4e6), 2000)
large <- ways("2000x2000xf64")
run("2000x2000 f64: upload", large, function(w) function() w$upload(x, "f64"))
run("2000x2000 f64: read back", large, function(w) {
  a <- w$upload(x, "f64")
  function() w$read(a)
})

# Long enough for collections of R's, by which the memory of results comes back
for (size in c("1000000", "4000000")) {
  x <- rnorm(as.numeric(size))
  run(sprintf("%s f64: 20 sums, each of the one before", size), ways(sprintf("%sxf64", size)), function(w) {
    a <- w$upload(x, "f64")
    function() {
      sum <- a
      for (i in 1:20) sum <- w$execute(sum, a)
    }
  }, seconds = 0.5)
}

cpu <- grep("model name", readLines("/proc/cpuinfo"), value = TRUE)
versions <- c(
  paste("xlaffi", packageVersion("xlaffi")),
  paste("R", getRversion()),
  jax$version,
  if ("{pjrt}" %in% names(small)) paste("pjrt", packageVersion("pjrt"))
)
text <- c(
  as_markdown(results),
  "",
  paste0(
    paste(versions, collapse = ", "), "; ", parallel::detectCores(), " cores, ",
    sub(".*: ", "", cpu[1]), "; medians of 15 rounds in turn; ", Sys.Date(), "."
  )
)
writeLines(text)
writeLines(text, file.path(here, "results-host.md"))
