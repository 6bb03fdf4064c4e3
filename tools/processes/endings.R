# Ends one of two processes in a loop of collectives, again and again: tools/processes/endings.R [ROUNDS] [HEARTBEAT].
# In as many rounds each, one gets Ctrl-C and leaves, or is killed; now the coordinator, now the other one. Counts
# processes that died, waits that were longer than the heartbeat and 5 seconds, errors of another class than documented,
# and errors that do not tell why; fails where there are any.
suppressMessages({
  library(testthat)
  library(xlaffi)
})
for (file in list.files("tests/testthat", "^helper-.*[.]R$", full.names = TRUE)) source(file)

arguments <- as.integer(commandArgs(TRUE))
rounds <- if (length(arguments)) arguments[[1L]] else 100L
heartbeat <- if (length(arguments) > 1L) arguments[[2L]] else 5L

one_round <- function(how, victim) {
  both <- end_one_of_two(how, victim, heartbeat, patience = 120)[[1L]]
  other <- both[2L - victim, ]
  victim <- both[victim + 1L, ]
  found <- c(
    died = !other$status %in% 0L || how == "interrupt" && !victim$status %in% 0L,
    waited = !is.na(other$seconds) && other$seconds > heartbeat + 5 || is.na(other$status),
    class = !other$class %in% "xlaffi_error_unavailable" || how == "interrupt" && !victim$class %in% "interrupt",
    unnamed = !grepl("process [01].* is gone: (it left, or ended, while|its connection is closed)", other$message)
  )
  if (any(found)) {
    cat(how, "failed:", toString(names(found)[found]), "\n", both$output, sep = "\n")
  }
  c(found, given_up = grepl("does not come to an end", other$message), seconds = other$seconds)
}

failed <- FALSE
for (how in c("interrupt", "kill")) {
  counts <- vapply(seq_len(rounds), function(round) one_round(how, round %% 2L), numeric(6L))
  longest <- suppressWarnings(max(counts["seconds", ], na.rm = TRUE))
  cat("\n", sprintf(
    "%s, %d rounds: %d died, %d waited longer than %d s, %d of another class, %d not told why; %d given up, %.1f s",
    how, rounds, sum(counts["died", ]), sum(counts["waited", ]), heartbeat + 5L, sum(counts["class", ]),
    sum(counts["unnamed", ]), sum(counts["given_up", ]), longest
  ), "\n", sep = "")
  failed <- failed || sum(counts[1:4, ]) > 0
}
quit(status = failed)
