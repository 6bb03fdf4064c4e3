# One of several processes that tools/places.sh starts: joins the others, computes with them, and says what came.
#
#   Rscript process.R together [COORDINATOR PROCESSES NUMBER]     sums and products of rows that each has some of
#   Rscript process.R cut FILE [COORDINATOR PROCESSES NUMBER]     makes FILE and goes on until an error comes
#
# Without the last three the launcher tells them. The last line is "ok" where all is as it should be.
library(xlaffi)
arguments <- commandArgs(TRUE)
scene <- arguments[[1L]]
rest <- arguments[-seq_len(if (scene == "cut") 2L else 1L)]
collectives <- Sys.getenv("XLAFFI_PLACES_COLLECTIVES", "gloo")
joined <- if (length(rest)) {
  pjrt_distributed(rest[[1L]], as.integer(rest[[2L]]), as.integer(rest[[3L]]),
    collectives = collectives, startup_timeout = 60, heartbeat_timeout = 4
  )
} else {
  pjrt_distributed(collectives = collectives, startup_timeout = 60, heartbeat_timeout = 4)
}
n <- joined$num_processes
i <- joined$process_id
mesh <- xla_mesh(c(rows = n))
total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())

together <- function() {
  whole <- matrix(sin(seq_len(6 * n)), 2 * n)
  right <- cos(seq_len(2 * n))
  own <- 2 * i + 1:2
  x <- xla_shard(whole[own, ], mesh, "rows", global_shape = dim(whole))
  y <- xla_shard(right[own], mesh, "rows", global_shape = length(right))
  normal <- xla_jit(function(x, y) list(crossprod(x), crossprod(x, y)), out_shardings = xla_spec())
  found <- lapply(normal(x, y), as_array)
  stopifnot(all.equal(found, list(crossprod(whole), crossprod(whole, right))))
  each <- xla_shard_map(function(x) hlo_psum(sum(x), "rows"), mesh, list("rows"), xla_spec())
  stopifnot(all.equal(as_array(each(y)), sum(right)))
  moved <- xla_shard_map(function(x) hlo_all_gather(x, "rows", tiled = TRUE), mesh, list("rows"), xla_spec())
  stopifnot(all.equal(as.vector(as_array(moved(y))), right))
}

# Most of a round is spent in the exchange of 32 MB.
until_cut <- function(file) {
  x <- xla_shard(matrix(1, 1, 4e6), mesh, "rows", global_shape = c(n, 4e6))
  columns <- xla_jit(function(x) colSums(x), out_shardings = xla_spec())
  stopifnot(all(as_array(columns(x)) == n))
  file.create(file)
  limit <- Sys.time() + 60
  lost <- NULL
  while (is.null(lost) && Sys.time() < limit) {
    lost <- tryCatch({
      as_array(columns(x))
      NULL
    }, error = identity)
  }
  cat(class(lost)[[1L]], conditionMessage(lost), "\n")
  stopifnot(inherits(lost, "xlaffi_error_unavailable"), identical(xla_jit(function(x) sum(x))(c(1, i)), 1 + i))
  print(joined)
}

if (scene == "together") together() else until_cut(arguments[[2L]])
if (scene == "together") print(joined)
listening <- if (nzchar(Sys.which("ss"))) {
  lines <- grep(sprintf("pid=%d,", Sys.getpid()), system2("ss", "-ltnpH", stdout = TRUE), value = TRUE)
  sub("^LISTEN +[0-9]+ +[0-9]+ +([^ ]+) .*$", "\\1", lines)
}
cat("listens at", toString(listening), "\n")
if (scene == "together") {
  # Nobody ends before all are through.
  invisible(total(xla_shard(1, mesh, "rows", global_shape = n)))
}
cat("ok\n")
