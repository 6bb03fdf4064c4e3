# Several devices and several processes: how much faster two devices are at a regression than one, what the machine's
# memory allows, and what a sum over two processes takes, beside JAX's own. Every case has processes of its own.
# Writes results-devices.md, and for the vignette inst/extdata/bench-devices.csv.
#
#   devices.R [ROWS [ROUNDS]]        rows of the regression, 1e7 by default; how often all is measured, 2 by default
#
# Each measurement is run by the command in the environment variable BENCH_WITH, if there is one: something that keeps
# other work away meanwhile.

args <- commandArgs(trailingOnly = TRUE)
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
columns <- 10L
numbers <- c(1, 100, 10000, 1e6)
turns <- 100L
calls_of <- function(count) max(5, min(1000, round(1000 / (1 + count / 1e4))))

# The least of some turns, after one that compiles
least <- function(f, turns = 5L) {
  f()
  min(replicate(turns, system.time(f(), gcFirst = FALSE)[["elapsed"]]))
}

# Regressions whose rows lie on the devices of `mesh`, as plain expressions and with sums in blocks of rows; `x` is what
# this process has of the matrix.
regressions <- function(mesh, x, y, rows) {
  whole <- function(data, shape) xla_shard(data, mesh, "rows", global_shape = shape)
  x <- whole(x, c(rows, ncol(x)))
  y <- whole(y, rows)
  linear_sums <- function(x, y) list(crossprod(x), crossprod(x, y))
  newton_sums <- function(beta) {
    function(x, y) {
      p <- plogis(drop(x %*% beta))
      list(crossprod(x, x * (p * (1 - p))), drop(crossprod(x, y - p)))
    }
  }
  timed <- function(summed) {
    mapped <- function(f) xla_shard_map(f, mesh, in_specs = "rows", out_specs = xla_spec())
    step <- function(sums) do.call(solve, hlo_psum(sums, "rows"))
    linear <- mapped(function(x, y) step(summed(linear_sums, x, y)))
    newton <- mapped(function(x, y) {
      hlo_fori(1, 3, function(i, beta) beta + step(summed(newton_sums(beta), x, y)), numeric(columns))
    })
    c(least(function() as_array(linear(x, y))), least(function() as_array(newton(x, y))))
  }
  c(timed(function(f, x, y) f(x, y)), timed(hlo_block_sum))
}

local_data <- function(rows) {
  x <- matrix(sin(seq_len(rows * columns)^1.5), ncol = columns)
  list(x = x, y = as.numeric(x[, 1] + cos(seq_len(rows)) > 0))
}

# The name that the processor gives itself
processor <- function() {
  lines <- tryCatch(readLines("/proc/cpuinfo"), error = function(e) "")
  name <- sub("^model name\\s*: *", "", grep("^model name", lines, value = TRUE))
  if (length(name)) name[[1]] else R.version$platform
}

# What child processes do
roles <- list(
  devices = function(devices, threads, rows) {
    pjrt_client("cpu", cpu_device_count = as.integer(devices), num_threads = as.integer(threads))
    data <- local_data(as.numeric(rows))
    regressions(xla_mesh(c(rows = as.integer(devices))), data$x, data$y, as.numeric(rows))
  },
  processes = function(coordinator, processes, number, rows) {
    join(coordinator, processes, number, num_threads = 1L)
    data <- local_data(as.numeric(rows) / as.integer(processes))
    regressions(xla_mesh(c(rows = as.integer(processes))), data$x, data$y, as.numeric(rows))
  },
  # A sum that R calls for and waits for, and one of many in a program
  psum = function(coordinator, processes, number, ...) {
    join(coordinator, processes, number)
    mesh <- xla_mesh(c(rows = as.integer(processes)))
    mapped <- function(f) xla_shard_map(f, mesh, in_specs = "rows", out_specs = xla_spec())
    total <- mapped(function(x) hlo_psum(x, "rows"))
    many <- mapped(function(x) hlo_fori(1, turns, function(i, y) hlo_psum(x * y, "rows") / 2, hlo_psum(x, "rows")))
    vapply(c(...), function(count) {
      count <- as.numeric(count)
      x <- xla_shard(matrix(1, 1, count), mesh, "rows", global_shape = c(as.integer(processes), count))
      for (i in 1:20) await(total(x))
      calls <- calls_of(count)
      c(
        least(function() for (i in seq_len(calls)) await(total(x))) / calls,
        least(function() await(many(x))) / (turns + 1L)
      )
    }, numeric(2))
  }
)
join <- function(coordinator, processes, number, ...) {
  pjrt_distributed(coordinator, as.integer(processes), as.integer(number), ...)
}

cores <- parallel::detectCores()
is_main <- !length(args) || grepl("^[0-9]", args[[1]])
given <- if (is_main) as.numeric(args)
rows <- if (length(given)) given[[1]] else 1e7
rounds <- if (length(given) > 1L) given[[2]] else 2
python <- Sys.getenv("XLAFFI_PYTHON", "python3")
here <- dirname(script)

free_port <- function() {
  repeat {
    port <- sample(20000:59999, 1L)
    socket <- tryCatch(serverSocket(port), error = function(e) NULL)
    if (!is.null(socket)) {
      close(socket)
      return(port)
    }
  }
}

# Runs commands side by side; what the first one says.
together <- function(commands) {
  files <- replicate(length(commands), tempfile())
  for (i in rev(seq_along(commands))) {
    system2(commands[[i]][[1]], shQuote(commands[[i]][-1]), stdout = files[[i]], stderr = "", wait = i == 1L)
  }
  utils::tail(readLines(files[[1]]), 1L)
}
text_of <- function(x) format(x, scientific = FALSE, trim = TRUE)
in_r <- function(...) c(file.path(R.home("bin"), "Rscript"), script, ...)
in_python <- function(...) c(python, file.path(here, "devices.py"), ...)
of_two <- function(command) {
  coordinator <- sprintf("127.0.0.1:%d", free_port())
  together(lapply(0:1, function(number) command(coordinator, number)))
}

# What is measured: a line of numbers each
regression_of <- function(devices) function(rows) together(list(in_r("devices", devices, devices, text_of(rows))))
jax_of <- function(devices) {
  function(rows) together(list(in_python("devices", devices, devices, text_of(rows))))
}
regressions_measured <- list(
  `1 device, 1 thread` = regression_of(1), `2 devices` = regression_of(2), `4 devices` = regression_of(4),
  `8 devices` = regression_of(8),
  `2 processes` = function(rows) of_two(function(at, number) in_r("processes", at, 2, number, text_of(rows))),
  `JAX, 1 device, 1 thread` = jax_of(1), `JAX, 2 devices` = jax_of(2)
)
measured <- c(regressions_measured, list(
  `sums` = function(rows) of_two(function(at, number) in_r("psum", at, 2, number, text_of(numbers))),
  `JAX, sums` = function(rows) {
    of_two(function(at, number) in_python("psum", at, 2, number, turns, text_of(numbers)))
  },
  memory = function(rows) {
    program <- tempfile("memory")
    source <- file.path(here, "memory.c")
    if (system2("cc", shQuote(c("-O3", "-march=native", "-pthread", "-o", program, source)))) stop("cc failed")
    together(list(program))
  }
))

if (!is_main && args[[1]] == "case") {
  writeLines(measured[[args[[2]]]](as.numeric(args[[3]])))
  quit(save = "no")
}
if (!is_main) {
  suppressMessages(library(xlaffi))
  cat("measured", format(do.call(roles[[args[[1]]]], as.list(args[-1])), digits = 9), "\n")
  quit(save = "no")
}

# The numbers of each case, in turn and several times: others may share the machine.
figures_of <- function(cases, best) {
  with <- scan(text = Sys.getenv("BENCH_WITH"), what = "", quiet = TRUE)
  one <- function(case) {
    command <- c(with, in_r("case", case, text_of(rows)))
    line <- utils::tail(system2(command[[1]], shQuote(command[-1]), stdout = TRUE), 1L)
    message(case, ": ", line)
    as.numeric(strsplit(sub("^measured +", "", line), " +")[[1]])
  }
  all <- replicate(rounds, sapply(cases, one, simplify = FALSE), simplify = FALSE)
  do.call(Map, c(list(best), all))
}
regression <- figures_of(names(regressions_measured), pmin)
sums <- lapply(figures_of(c("sums", "JAX, sums"), pmin), matrix, nrow = 2L)
memory <- matrix(figures_of("memory", pmax)[[1]], 2L)
ours <- sums[[1L]]
jax <- sums[[2L]]

is_jax <- grepl("^JAX", names(regression))
one <- ifelse(is_jax, "JAX, 1 device, 1 thread", "1 device, 1 thread")
speed <- mapply(function(times, one) regression[[one]] / times, regression, one)
programs <- c("linear", "Newton", "linear in blocks", "Newton in blocks")
efficiency <- function(case) toString(sprintf("%.2f (%s)", speed[, case] / 2, programs))
faster <- memory[2, ] / memory[1, ]
machine <- sprintf("%d cores (%s), %s", cores, processor(), Sys.Date())
seconds <- matrix(unlist(regression), 4L)
table <- c(
  sprintf(
    "| regression, %s x %d | linear | three Newton steps | linear, blocks | Newton, blocks | speed-up |",
    text_of(rows), columns
  ),
  "|---|---|---|---|---|---|",
  sprintf(
    "| %s | %.3g s | %.3g s | %.3g s | %.3g s | %s |", names(regression), seconds[1, ], seconds[2, ], seconds[3, ],
    seconds[4, ], apply(speed, 2L, function(x) toString(sprintf("%.2f", x)))
  ),
  "",
  sprintf("Efficiency of two devices on %d cores: %s; goal 0.85.", cores, efficiency("2 devices")),
  sprintf("Of two processes: %s. JAX's of two devices: %s.", efficiency("2 processes"), efficiency("JAX, 2 devices")),
  "",
  "In blocks: `hlo_block_sum()`, and in JAX a `scan` over blocks of the same rows.",
  "",
  "| memory.c, 800 MB | one core | two | speed-up |",
  "|---|---|---|---|",
  sprintf(
    "| %s | %.3g | %.3g | %.2f |",
    c("GB read in a second", "GB read and written in a second", "billions of operations in registers in a second"),
    memory[1, ], memory[2, ], faster
  ),
  "",
  "| sum over two processes | in a program | JAX | ratio | called and waited for | JAX | ratio |",
  "|---|---|---|---|---|---|---|",
  sprintf(
    "| %s bytes | %.3g us | %.3g us | %.2f | %.3g us | %.3g us | %.2f |", text_of(8 * numbers),
    1e6 * ours[2, ], 1e6 * jax[2, ], ours[2, ] / jax[2, ], 1e6 * ours[1, ], 1e6 * jax[1, ], ours[1, ] / jax[1, ]
  ),
  "",
  "Goal for 8 bytes: 1.1.",
  "",
  sprintf("xlaffi %s, R %s, %s.", packageVersion("xlaffi"), getRversion(), machine)
)
writeLines(table)
writeLines(table, file.path(here, "results-devices.md"))

figures <- function(what, case, value) data.frame(what = what, case = case, value = signif(value, 4))
csv <- rbind(
  do.call(rbind, lapply(1:4, function(i) figures(programs[[i]], names(regression), seconds[i, ]))),
  figures(rep(c("read", "scale", "compute"), each = 2L), c("1 core", "2 cores"), c(memory)),
  figures("sum in a program", text_of(8 * numbers), ours[2, ]),
  figures("sum in a program, JAX", text_of(8 * numbers), jax[2, ])
)
target <- file.path(here, "..", "..", "inst", "extdata", "bench-devices.csv")
header <- sprintf("# tools/bench/devices.R, %s x %d, %s", text_of(rows), columns, machine)
writeLines(header, target)
suppressWarnings(utils::write.table(csv, target, sep = ",", row.names = FALSE, append = TRUE, qmethod = "double"))
