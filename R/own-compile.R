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
    return(compiler_warnings(name, language, done$log, files))
  }
  # Linkers map what they write: there a full disk is a bus error.
  if (any(grepl("No space left on device|Disk quota exceeded|Read-only file system|Bus error|SIGBUS", done$log))) {
    disk_full("is full")
  }
  place <- if (language == "fortran") function(found) behind_includes(found, folder, files) else identity
  compiler_error(name, language, done$log, files, call, place)
}

# What begins in a part of the user's and does not end there is an error of the line behind its include.
behind_includes <- function(found, folder, files) {
  form <- "^include '(.*)'$"
  for (i in which(startsWith(found$file, "unit") & found$line > 1L)) {
    before <- readLines(file.path(folder, found$file[[i]]), warn = FALSE)[[found$line[[i]] - 1L]]
    part <- sub(form, "\\1", before)
    if (grepl(form, before) && part %in% names(files)) {
      lines <- readLines(file.path(folder, part), warn = FALSE)
      expected <- grep("^Expecting END", found$message, value = TRUE)
      found$file[[i]] <- part
      found$line[[i]] <- length(lines)
      found$message[[i]] <- paste0(
        "something that begins in it does not end",
        if (length(expected)) sub("^Expecting (.*) statement.*$", ": `\\1` is missing", expected[[1L]])
      )
      found$snippet[[i]] <- sprintf("%5d | %s", length(lines), lines[[length(lines)]])
    }
  }
  found
}
