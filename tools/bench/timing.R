# Timing helpers of the benchmarks: every case is run by all peers in turn, so that
# a machine whose speed drifts slows all of them alike, and medians are compared.

# A peer's case is a function that runs one batch and returns microseconds per call.
# This makes one of an R function: as many calls as take `seconds`.
batches <- function(f, seconds = 0.02) {
  f()
  n <- 1L
  repeat {
    t <- system.time(for (i in seq_len(n)) f(), gcFirst = FALSE)[["elapsed"]]
    if (t >= seconds || n >= 1e6) break
    n <- if (t <= 0.002) n * 8L else as.integer(ceiling(n * seconds / t * 1.1))
  }
  function() {
    gc(FALSE)
    1e6 * system.time(for (i in seq_len(n)) f(), gcFirst = FALSE)[["elapsed"]] / n
  }
}

# The median of each peer over `rounds` batches, taken in turn
alternate <- function(peers, rounds = 15L) {
  us <- replicate(rounds, vapply(peers, function(batch) batch(), numeric(1)))
  apply(matrix(us, length(peers), dimnames = list(names(peers), NULL)), 1, stats::median)
}

duration <- function(us) {
  ifelse(
    is.na(us), "",
    ifelse(signif(us, 3) < 1000, sprintf("%.3g us", us), sprintf("%.3g ms", us / 1000))
  )
}

# A markdown table: a row a case, a column a peer, with each peer's time as a multiple of the first's, and, where a case
# has one, the multiple that the project aims at
as_markdown <- function(results, goals = NULL) {
  peers <- unique(unlist(lapply(results, names)))
  cell <- function(result, peer) {
    if (!peer %in% names(result)) return("")
    time <- duration(result[[peer]])
    if (peer == peers[[1]]) time else sprintf("%s (%.2g x)", time, result[[peer]] / result[[1]])
  }
  rows <- vapply(names(results), function(case) {
    cells <- vapply(peers, function(p) cell(results[[case]], p), character(1))
    goal <- if (length(goals)) if (case %in% names(goals)) sprintf("%g x", goals[[case]]) else ""
    paste0("| ", paste(c(case, cells, goal), collapse = " | "), " |")
  }, character(1))
  heads <- c("", peers, if (length(goals)) "goal")
  c(
    paste0("| ", paste(heads, collapse = " | "), " |"),
    paste0("|", strrep("---|", length(heads))),
    unname(rows)
  )
}
