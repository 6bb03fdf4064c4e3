# Timing helpers of the benchmarks: every case is run by all peers in turn, so that
# a machine whose speed drifts slows all of them alike, and medians are compared.

# Calls per batch so that one batch takes at least `seconds`
batch_size <- function(f, seconds = 0.02) {
  n <- 1L
  repeat {
    t <- system.time(for (i in seq_len(n)) f(), gcFirst = FALSE)[["elapsed"]]
    if (t >= seconds || n >= 1e6) return(n)
    n <- if (t <= 0.002) n * 8L else as.integer(ceiling(n * seconds / t * 1.1))
  }
}

# Microseconds per call: the median over `rounds` batches of each peer, taken in turn.
# `peers` is a named list of functions; a NULL peer is left out.
alternate <- function(peers, rounds = 15L) {
  peers <- Filter(Negate(is.null), peers)
  for (f in peers) f()
  n <- vapply(peers, batch_size, integer(1))
  us <- matrix(NA_real_, rounds, length(peers), dimnames = list(NULL, names(peers)))
  for (r in seq_len(rounds)) {
    for (p in names(peers)) {
      f <- peers[[p]]
      gc(FALSE)
      t <- system.time(for (i in seq_len(n[[p]])) f(), gcFirst = FALSE)[["elapsed"]]
      us[r, p] <- 1e6 * t / n[[p]]
    }
  }
  apply(us, 2, stats::median)
}

duration <- function(us) {
  ifelse(
    is.na(us), "",
    ifelse(us < 1000, sprintf("%.3g us", us), sprintf("%.3g ms", us / 1000))
  )
}

# A markdown table: a row a case, a column a peer, with each peer's time as a multiple of the first's
as_markdown <- function(results) {
  peers <- unique(unlist(lapply(results, names)))
  cell <- function(result, peer) {
    if (!peer %in% names(result)) return("")
    time <- duration(result[[peer]])
    if (peer == peers[[1]]) time else sprintf("%s (%.2g x)", time, result[[peer]] / result[[1]])
  }
  rows <- vapply(names(results), function(case) {
    cells <- vapply(peers, function(p) cell(results[[case]], p), character(1))
    paste0("| ", paste(c(case, cells), collapse = " | "), " |")
  }, character(1))
  c(
    paste0("| ", paste(c("", peers), collapse = " | "), " |"),
    paste0("|", strrep("---|", length(peers) + 1L)),
    unname(rows)
  )
}
