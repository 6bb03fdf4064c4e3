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
  notified <- FALSE
  tell <- function() {
    if (!notified) {
      notified <<- TRUE
      text <- sprintf("Compiling %s (%s) ...", name, compiler_names[[language]])
      inform(text, "xlaffi_message_compiling")
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

# What compilers say, with the user's own lines first. Formats: gcc and clang, gfortran, rustc, NVRTC.

# `files` are the user's own parts: names as the compiler was given them, with what the user calls them.
# `place` changes where errors are, for code that is generated from other code.
compiler_error <- function(name, language, log, files, call = NULL, place = identity) {
  found <- place(compiler_diagnostics(language, log, files, "error"))
  own <- found$file %in% names(files)
  # An error in what was generated follows from one in the user's part, if there is one.
  found <- if (any(own)) found[own, ] else found
  found <- found[!duplicated(found), ]
  compiler <- sprintf("the %s compiler", compiler_names[[language]])
  if (!nrow(found)) {
    shown <- utils::tail(log[nzchar(trimws(log))], 6L)
    text <- paste0(name, ": ", compiler, " fails:\n", paste(shown, collapse = "\n"))
    abort_text(text, op = name, log = log, call = call)
  }
  abort_text(shown_diagnostics(name, found, files), op = name, log = log, call = call, hint = c(
    if (nrow(found) > 3L) sprintf("There are %d more errors.", nrow(found) - 3L),
    sprintf("All that %s wrote is in the condition's field `log`.", compiler)
  ))
}

# What a compiler warns of in the user's own lines; what was generated is not the user's.
compiler_warnings <- function(name, language, log, files) {
  if (!length(log) || isFALSE(getOption("xlaffi.compiler_warnings"))) {
    return()
  }
  found <- compiler_diagnostics(language, log, files, "warning")
  found <- found[found$file %in% names(files), ]
  found <- found[!duplicated(found), ]
  if (!nrow(found)) {
    return()
  }
  found$message <- paste("warning:", found$message)
  hint <- c(
    if (nrow(found) > 3L) sprintf("There are %d more warnings.", nrow(found) - 3L),
    "They are shown when code is compiled, and not with `options(xlaffi.compiler_warnings = FALSE)`."
  )
  rlang::inform(c(shown_diagnostics(name, found, files), stats::setNames(hint, rep("i", length(hint)))),
    class = "xlaffi_message_compiler", op = name, log = log, use_cli_format = FALSE
  )
}

compiler_diagnostics <- function(language, log, files, kind) {
  switch(language,
    rust = rust_diagnostics(log, kind),
    fortran = fortran_diagnostics(log, kind),
    cuda = cuda_diagnostics(log, kind),
    c_diagnostics(log, names(files), kind)
  )
}

# The first three, under the names that the user knows.
shown_diagnostics <- function(name, found, files) {
  found <- utils::head(found, 3L)
  parts <- unname(files[found$file])
  parts <- ifelse(is.na(parts), found$file, parts)
  texts <- sprintf("%s: line %d of %s: %s", name, found$line, parts, found$message)
  paste0(texts, ifelse(nzchar(found$snippet), "\n", ""), found$snippet, collapse = "\n")
}

# A message whose line breaks and spaces matter.
abort_text <- function(message, op = NULL, hint = NULL, log = NULL, call = NULL, operand = "code") {
  rlang::abort(c(message, if (length(hint)) stats::setNames(hint, rep("i", length(hint)))),
    class = c("xlaffi_error_invalid_argument", "xlaffi_error"),
    code = "INVALID_ARGUMENT", op = op, operand = operand, log = log, call = call, use_cli_format = FALSE
  )
}

# One row per error: file, line, message, and the lines that show it.
diagnostics <- function(log, starts, is_error, file, line, message, snippet) {
  rows <- lapply(which(is_error), function(at) {
    end <- starts[starts > at]
    lines <- log[at:(if (length(end)) end[[1L]] - 1L else length(log))]
    data.frame(
      file = file(lines), line = as.integer(line(lines)), message = message(lines),
      snippet = paste(sub("\\s+$", "", snippet(lines)), collapse = "\n")
    )
  })
  empty <- data.frame(file = character(), line = integer(), message = character(), snippet = character())
  found <- do.call(rbind, c(list(empty), rows))
  found[!is.na(found$line), ]
}

# file:line:column: error: message, then the line and a caret. An error in a generated call is shown at the place in
# one of the `files` that the note behind it shows: what the called function takes.
c_diagnostics <- function(log, files, kind = "error") {
  form <- "^(.+?):([0-9]+):([0-9]+:)? (fatal error|error|warning|note): (.*)$"
  others <- "|: In |^In file included|^ +from |: At (top level|global scope)|^[^ ]+: (error|warning)"
  starts <- grep(paste0(form, others), log, perl = TRUE)
  part <- function(n) function(lines) sub(form, paste0("\\", n), lines[[1L]], perl = TRUE)
  found <- diagnostics(
    log, starts, grepl(sprintf("^(.+?):([0-9]+):([0-9]+:)? ((fatal )?%s|note): ", kind), log, perl = TRUE),
    part(1L), part(2L), function(lines) paste0(part(4L)(lines), ": ", sub(" \\[-W[^]]*\\]$", "", part(5L)(lines))),
    function(lines) {
      shown <- grep("^ +[0-9]* *\\|", lines[-1L], value = TRUE)
      # Older versions of clang write no numbers.
      if (length(shown)) shown else lines[seq_along(lines) %in% 2:3 & seq_along(lines) < length(lines)]
    }
  )
  is_note <- startsWith(found$message, "note: ")
  found$message <- sub("^[a-z ]+: ", "", found$message)
  explained <- which(!is_note & !found$file %in% files & c(is_note[-1L] & found$file[-1L] %in% files, FALSE))
  found$message[explained] <- paste0(found$message[explained], ": ", found$message[explained + 1L])
  for (part in c("file", "line", "snippet")) {
    found[[part]][explained] <- found[[part]][explained + 1L]
  }
  found[!is_note, ]
}

# file:line:column:, the line, its caret, and then "Error: message".
fortran_diagnostics <- function(log, kind = "error") {
  head <- if (kind == "error") "^(Fatal )?Error: " else "^Warning: "
  starts <- grep("^.+:[0-9]+:[0-9]+:$", log)
  error_in <- function(at) {
    end <- starts[starts > at]
    any(grepl(head, log[at:(if (length(end)) end[[1L]] - 1L else length(log))]))
  }
  is_error <- seq_along(log) %in% Filter(error_in, starts)
  diagnostics(
    log, starts, is_error,
    function(lines) sub(":[0-9]+:[0-9]+:$", "", lines[[1L]]),
    function(lines) sub("^.+:([0-9]+):[0-9]+:$", "\\1", lines[[1L]]),
    function(lines) sub(" \\[-W[^]]*\\]$", "", sub(head, "", grep(head, lines, value = TRUE)[[1L]])),
    function(lines) grep("^ +[0-9]* *\\|.*[^ |]", lines[-1L], value = TRUE)
  )
}

# file(line): error: message, the line, its caret.
cuda_diagnostics <- function(log, kind = "error") {
  form <- "^(.+)\\(([0-9]+)\\): (catastrophic error|error|warning)( #[-0-9D]+)?: (.*)$"
  starts <- grep(paste0(form, "|^[0-9]+ errors? detected|^$"), log)
  diagnostics(
    log, starts, grepl(sprintf("^(.+)\\(([0-9]+)\\): (catastrophic )?%s", kind), log),
    function(lines) sub(form, "\\1", lines[[1L]]),
    function(lines) sub(form, "\\2", lines[[1L]]),
    function(lines) sub(form, "\\5", lines[[1L]]),
    function(lines) {
      # Indented by two.
      shown <- substring(utils::head(grep("[^ ]", lines[-1L], value = TRUE), 2L), 3L)
      number <- c(sub(form, "\\2", lines[[1L]]), "")
      sprintf("%5s | %s", number[seq_along(shown)], shown)
    }
  )
}

# error[E0425]: message, then --> file:line:column and the lines.
rust_diagnostics <- function(log, kind = "error") {
  head <- sprintf("^%s(\\[[A-Z0-9]+\\])?: ", kind)
  starts <- grep("^(error|warning)(\\[[A-Z0-9]+\\])?: ", log)
  place <- function(lines) grep("^ *--> ", lines, value = TRUE)[1L]
  diagnostics(
    log, starts, grepl(head, log),
    function(lines) sub("^ *--> (.*):[0-9]+:[0-9]+$", "\\1", place(lines)),
    function(lines) sub("^ *--> .*:([0-9]+):[0-9]+$", "\\1", place(lines)),
    function(lines) sub(head, "", lines[[1L]]),
    function(lines) rust_snippet(grep("^ *[0-9]+ *[|]|^ *[|] +[^ ]|^ *= (help|note)", lines, value = TRUE))
  )
}

# Without the brace that was put before the first line.
rust_snippet <- function(lines) {
  first <- grep("^ *1 [|] \\{ ", lines)
  lines[first] <- sub("[|] \\{ ", "| ", lines[first])
  below <- intersect(first + 1L, grep("^ *[|]   ", lines))
  lines[below] <- sub("[|]   ", "| ", lines[below])
  lines
}
