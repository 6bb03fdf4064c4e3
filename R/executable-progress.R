# What an interactive session is told while XLA compiles for long.

# Seconds that nothing is said in
progress_after <- 3

# A function that the loop of a wait calls again and again: it says once in a session what takes so long.
compiling_notice <- function() {
  began <- proc.time()[["elapsed"]]
  function() {
    if (proc.time()[["elapsed"]] - began >= progress_after) say_compiling()
  }
}

say_compiling <- function() {
  if (isTRUE(the$said_compiling) || !rlang::is_interactive() || isFALSE(getOption("xlaffi.progress"))) {
    return(invisible())
  }
  the$said_compiling <- TRUE
  cli::cli_inform(c(
    "XLA is compiling a program, which takes longer the more operations it has.",
    i = paste(
      "Loops of R's are written out turn by turn: {.fn hlo_scan} and {.fn hlo_fori} are compiled as one turn,",
      "{.fn xla_vmap} and functions of whole arrays as one operation for all elements."
    ),
    i = "Programs are kept, see {.fn xla_cache}. {.code options(xlaffi.progress = FALSE)} turns this message off."
  ), class = "xlaffi_message_progress")
}
