# Runs compilers.

# A program to its end, with what it wrote. R stays interruptible; what was interrupted is ended. After a second
# `tell()` says what takes so long.
run_program <- function(program, arguments, folder, tell = NULL, environment = character()) {
  finish_program(start_program(program, arguments, folder, environment), tell)
}

start_program <- function(program, arguments, folder, environment = character()) {
  output <- tempfile("xlaffi-output")
  # Messages are read: they come in English, in the user's character set.
  environment <- c("LC_ALL=", "LC_MESSAGES=C", "LANGUAGE=C", environment)
  list(process = check(.Call(wrap__process_start, program, arguments, folder, environment, output)), output = output)
}

finish_program <- function(running, tell = NULL) {
  on.exit({
    check(.Call(wrap__process_stop, running$process))
    unlink(running$output)
  })
  started <- proc.time()[["elapsed"]]
  repeat {
    status <- check(.Call(wrap__process_wait, running$process, 0.05))
    if (!is.null(status)) {
      break
    }
    Sys.sleep(0)
    if (!is.null(tell) && proc.time()[["elapsed"]] - started > 1) {
      tell()
      tell <- NULL
    }
  }
  list(status = status, output = readLines(running$output, warn = FALSE))
}

# Commands side by side, two or as many as there are processors at a time. Ends with all that they wrote, and whether
# one failed.
run_commands <- function(commands, folder, name, language, environment = character()) {
  told <- FALSE
  tell <- function() {
    if (!told) {
      told <<- TRUE
      text <- sprintf("Compiling %s (%s) ...", name, compiler_names[[language]])
      cli::cli_inform("{text}", class = "xlaffi_message_compiling")
    }
  }
  running <- list()
  on.exit(for (one in running) .Call(wrap__process_stop, one$process))
  done <- list()
  for (command in commands) {
    running <- c(running, list(start_program(command[[1L]], command[-1L], folder, environment)))
    if (length(running) >= 2L) {
      done <- c(done, list(finish_program(running[[1L]], tell)))
      running <- running[-1L]
    }
  }
  while (length(running)) {
    done <- c(done, list(finish_program(running[[1L]], tell)))
    running <- running[-1L]
  }
  list(
    failed = any(vapply(done, function(one) one$status != 0L, NA)),
    log = unlist(lapply(done, `[[`, "output"))
  )
}

# Compiles in `folder`, or raises what the compiler said.
compile_code <- function(commands, folder, name, language, files, environment = character(), call = NULL) {
  done <- run_commands(commands, folder, name, language, environment)
  if (!done$failed) {
    return(invisible(done$log))
  }
  # Linkers map what they write: there a full disk is a bus error.
  if (any(grepl("No space left on device|Disk quota exceeded|Read-only file system|Bus error|SIGBUS", done$log))) {
    disk_full("is full")
  }
  compiler_error(name, language, done$log, files, call)
}
