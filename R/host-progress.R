# What a download shows: in an interactive session a bar with the sizes and the time left, elsewhere nothing but the
# line that announces it.

# Bars for files: `tell(done, total, name)` shows how many bytes of which are there, and `end()` takes the last one
# away. `total` is NA where nobody says.
new_download_bar <- function(name, total = NA_real_) {
  bar <- new_bar(name, total)
  begun <- proc.time()[["elapsed"]]
  tell <- function(done, of = total, file = name) {
    if (!identical(file, name)) {
      bar$end()
      name <<- file
      total <<- of
      bar <<- new_bar(name, total)
      begun <<- proc.time()[["elapsed"]]
    }
    if (bar$due()) bar$set(done, download_text(done, total, proc.time()[["elapsed"]] - begun))
  }
  list(tell = tell, end = function() bar$end())
}

# `done` of `total` bytes after some seconds. The first second says too little about the rest.
download_text <- function(done, total, seconds) {
  rate <- if (seconds > 0) done / seconds else 0
  left <- if (!is.na(total) && rate > 0 && seconds >= 1) max(0, total - done) / rate else NA
  paste0(
    format_bytes(done), if (!is.na(total)) paste(" of", format_bytes(total)),
    if (!is.na(left)) paste0(", ", format_left(left), " left")
  )
}

format_left <- function(seconds) {
  seconds <- ceiling(seconds)
  if (seconds < 100) sprintf("%.0f s", seconds) else sprintf("%.0f min", ceiling(seconds / 60))
}

# The file at an address, part by part, with a bar; how many bytes there were.
download_parts <- function(address, file, bar) {
  from <- url(address, "rb")
  on.exit(close(from))
  to <- file(file, "wb")
  on.exit(close(to), add = TRUE)
  done <- 0
  repeat {
    part <- readBin(from, "raw", 65536L)
    if (!length(part)) break
    writeBin(part, to)
    done <- done + length(part)
    bar$tell(done)
  }
  done
}

# How long the file at an address is, as far as anybody says.
download_size <- function(address) {
  if (startsWith(address, "file://")) {
    return(file.size(sub("^file://", "", address)))
  }
  lines <- tryCatch(curlGetHeaders(address, timeout = 10), error = function(e) NULL, warning = function(w) NULL)
  size <- utils::tail(grep("^content-length:", lines, ignore.case = TRUE, value = TRUE), 1L)
  if (length(size) && identical(attr(lines, "status"), 200L)) as.numeric(sub("^[^:]*:", "", size)) else NA_real_
}

# Runs pip with a bar for each file that it downloads: inst/python/pip.py tells how far they are, in lines that begin
# with a tab. Returns the other lines, with the status as an attribute if it is not 0, as system2() does.
run_pip <- function(python, arguments) {
  script <- system.file("python", "pip.py", package = "xlaffi", mustWork = TRUE)
  command <- c(without_r_libraries(), shQuote(c(python, script, python, "-m", "pip", arguments)))
  lines <- pipe(paste(command, collapse = " "), "r")
  output <- character()
  bar <- new_download_bar("")
  status <- NULL
  on.exit({
    bar$end()
    if (is.null(status)) close(lines)
  })
  repeat {
    line <- readLines(lines, 1L, warn = FALSE)
    if (!length(line)) break
    parts <- strsplit(line, "\t", fixed = TRUE)[[1L]]
    if (length(parts) == 4L && !nzchar(parts[[1L]])) {
      # A wheel's name goes on with the systems that it is for.
      bar$tell(as.numeric(parts[[2L]]), as.numeric(parts[[3L]]), sub("^([^-]+-[^-]+)-.*$", "\\1", parts[[4L]]))
    } else {
      output <- c(output, line)
    }
  }
  status <- close(lines)
  if (is.null(status)) status <- 0L
  # Unix has the exit status in the second byte.
  if (status > 255L) status <- status %/% 256L
  structure(output, status = if (status != 0L) as.integer(status))
}
