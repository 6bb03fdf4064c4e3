# Runs R code in `n` processes at once, which know `i` (their number, from 0), `n` and `port`, a free one. For each,
# what it wrote and its exit status. A process that does not end is ended, and has the status NA.
processes <- function(n, code, timeout = 60, port = free_port()) {
  folder <- withr::local_tempdir()
  libraries <- paste(deparse(.libPaths()), collapse = "")
  file <- function(name, i) file.path(folder, paste0(name, i))
  rscript <- shQuote(file.path(R.home("bin"), "Rscript"))
  withr::local_envvar(XLAFFI_PYTHON = Sys.getenv("XLAFFI_PYTHON", plugin_python()))
  for (i in seq_len(n) - 1L) {
    writeLines(c(
      sprintf(".libPaths(%s)", libraries), sprintf("i <- %dL; n <- %dL; port <- %dL", i, n, port),
      sprintf("writeLines(as.character(Sys.getpid()), %s)", deparse(file("pid", i))), "library(xlaffi)",
      paste("join_mesh <-", paste(deparse(join_mesh), collapse = "\n")), code
    ), file("code", i))
    writeLines(
      sprintf("%s %s > %s 2>&1\necho $? > %s", rscript, file("code", i), file("output", i), file("status", i)),
      file("run", i)
    )
    # What a shell without job control puts behind itself ignores Ctrl-C, and R 4.6 leaves it so.
    system2("bash", c("-c", shQuote(paste("set -m; sh", file("run", i), "&"))))
  }
  all <- seq_len(n) - 1L
  ended <- function() file.exists(file("status", all)) & file.size(file("status", all)) %in% 1:9
  limit <- Sys.time() + timeout
  while (!all(ended()) && Sys.time() < limit) {
    Sys.sleep(0.02)
  }
  lapply(all, function(i) {
    status <- NA
    if (ended()[[i + 1L]]) {
      status <- as.integer(readLines(file("status", i)))
    } else {
      tools::pskill(as.integer(readLines(file("pid", i))), tools::SIGKILL)
    }
    list(output = readLines(file("output", i)), status = status)
  })
}

# A port of the loopback where nobody listens.
free_port <- function() {
  for (port in sample(20000:32000)) {
    socket <- tryCatch(serverSocket(port), error = function(e) NULL)
    if (!is.null(socket)) {
      close(socket)
      return(port)
    }
  }
}

# In such a process: joins the others.
join_mesh <- function(i, n, port, ...) {
  pjrt_distributed(paste0("127.0.0.1:", port), n, i, ..., startup_timeout = 30, heartbeat_timeout = 4)
}

skip_without_processes <- function() {
  skip_without_plugin()
  skip_on_os("windows")
}
