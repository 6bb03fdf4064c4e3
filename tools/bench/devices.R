# Several devices and several processes: how much faster two devices are at a regression than one, and what a sum over
# two processes takes, beside JAX's own. Every case has processes of its own. Writes results-devices.md.
#
#   devices.R [ROWS]                 rows of the regression, 1e7 by default

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

# A regression whose rows lie on the devices of `mesh`; `x` is what this process has of the matrix.
regressions <- function(mesh, x, y, rows) {
  whole <- function(data, shape) ffi_shard(data, mesh, "rows", global_shape = shape)
  x <- whole(x, c(rows, ncol(x)))
  y <- whole(y, rows)
  linear <- ffi_shard_map(
    function(x, y) solve(hlo_psum(crossprod(x), "rows"), hlo_psum(crossprod(x, y), "rows")),
    mesh,
    in_specs = "rows", out_specs = ffi_spec()
  )
  newton <- ffi_shard_map(function(x, y) {
    hlo_fori(1, 3, function(i, beta) {
      p <- plogis(drop(x %*% beta))
      curve <- hlo_psum(crossprod(x, x * (p * (1 - p))), "rows")
      beta + solve(curve, hlo_psum(drop(crossprod(x, y - p)), "rows"))
    }, numeric(columns))
  }, mesh, in_specs = "rows", out_specs = ffi_spec())
  c(
    linear = least(function() as_array(linear(x, y))),
    newton = least(function() as_array(newton(x, y)))
  )
}

local_data <- function(rows) {
  x <- matrix(sin(seq_len(rows * columns)), ncol = columns)
  list(x = x, y = as.numeric(x[, 1] + cos(seq_len(rows)) > 0))
}

# What child processes do
roles <- list(
  devices = function(devices, threads, rows) {
    pjrt_client("cpu", cpu_device_count = as.integer(devices), num_threads = as.integer(threads))
    data <- local_data(as.numeric(rows))
    regressions(ffi_mesh(c(rows = as.integer(devices))), data$x, data$y, as.numeric(rows))
  },
  processes = function(coordinator, processes, number, rows) {
    join(coordinator, processes, number, num_threads = 1L)
    data <- local_data(as.numeric(rows) / as.integer(processes))
    regressions(ffi_mesh(c(rows = as.integer(processes))), data$x, data$y, as.numeric(rows))
  },
  # A sum that R calls for and waits for, and one of many in a program
  psum = function(coordinator, processes, number, ...) {
    join(coordinator, processes, number)
    mesh <- ffi_mesh(c(rows = as.integer(processes)))
    mapped <- function(f) ffi_shard_map(f, mesh, in_specs = "rows", out_specs = ffi_spec())
    total <- mapped(function(x) hlo_psum(x, "rows"))
    many <- mapped(function(x) hlo_fori(1, turns, function(i, y) hlo_psum(x * y, "rows") / 2, hlo_psum(x, "rows")))
    vapply(c(...), function(count) {
      count <- as.numeric(count)
      x <- ffi_shard(matrix(1, 1, count), mesh, "rows", global_shape = c(as.integer(processes), count))
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

if (length(args) > 1L) {
  suppressMessages(library(xlaffi))
  cat("measured", format(do.call(roles[[args[[1]]]], as.list(args[-1])), digits = 9), "\n")
  quit(save = "no")
}

rows <- if (length(args)) as.numeric(args[[1]]) else 1e7

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
measured <- function(line) as.numeric(strsplit(sub("^measured +", "", line), " +")[[1]])
child <- function(role, ...) c(file.path(R.home("bin"), "Rscript"), script, role, ...)
of_processes <- function(count, ...) {
  coordinator <- sprintf("127.0.0.1:%d", free_port())
  together(lapply(seq_len(count) - 1L, function(number) list(...)[[1]](coordinator, number)))
}

text_of <- function(x) format(x, scientific = FALSE, trim = TRUE)
on_devices <- function(devices) {
  measured(together(list(child("devices", devices, devices, text_of(rows)))))
}
in_processes <- function(count) {
  measured(of_processes(count, function(coordinator, number) {
    child("processes", coordinator, count, number, text_of(rows))
  }))
}
cases <- list(
  `1 device, 1 thread` = function() on_devices(1), `2 devices` = function() on_devices(2),
  `4 devices` = function() on_devices(4), `8 devices` = function() on_devices(8),
  `2 processes` = function() in_processes(2)
)
# In turn, several times: the others share the machine.
in_turn <- function(cases, rounds = 2L) {
  all <- replicate(rounds, lapply(cases, function(case) case()), simplify = FALSE)
  Map(function(...) pmin(...), all[[1L]], all[[2L]])
}
regression <- in_turn(cases)

python <- Sys.getenv("XLAFFI_PYTHON", "python3")
peer <- file.path(dirname(script), "devices.py")
sums <- in_turn(list(
  xlaffi = function() {
    measured(of_processes(2, function(coordinator, number) {
      child("psum", coordinator, 2, number, text_of(numbers))
    }))
  },
  jax = function() {
    measured(of_processes(2, function(coordinator, number) {
      c(python, peer, coordinator, 2, number, turns, text_of(numbers))
    }))
  }
))
ours <- matrix(sums$xlaffi, 2L)
jax <- matrix(sums$jax, 2L)

speed <- vapply(regression, function(times) regression[[1]] / times, numeric(2))
table <- c(
  sprintf("| regression, %s x %d | linear | three Newton steps | speed-up |", text_of(rows), columns),
  "|---|---|---|---|",
  sprintf(
    "| %s | %.3g s | %.3g s | %.2f, %.2f |", names(cases), vapply(regression, `[[`, 0, 1L),
    vapply(regression, `[[`, 0, 2L),
    speed[1, ], speed[2, ]
  ),
  "",
  sprintf(
    "Efficiency of two devices on two cores: %.2f (linear), %.2f (Newton); goal 0.85.", speed[1, 2] / 2, speed[2, 2] / 2
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
  sprintf(
    "xlaffi %s, R %s, %d cores, %s.", packageVersion("xlaffi"), getRversion(), parallel::detectCores(), Sys.Date()
  )
)
writeLines(table)
writeLines(table, file.path(dirname(script), "results-devices.md"))
