# Runs R code in `n` processes at once, which know `i` (their number, from 0), `n` and `port`, a free one. For each,
# what it wrote and its exit status. A process that does not end is ended, and has the status NA.
processes <- function(n, code, timeout = 60, port = free_port()) {
  skip_unless_included("mesh of several processes")
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

# What a process wrote, without what gloo says.
said <- function(run) grep("^[[]Gloo[]]", run$output, value = TRUE, invert = TRUE)

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
  skip_unless_included("mesh of several processes")
  skip_on_os("windows")
}

# In each of several meshes of two processes, which are in an endless loop of collectives, ends one of them, the
# `victims`: it gets Ctrl-C, after which its session ends (`how` is "interrupt"), or is killed ("kill"). For each mesh a
# data frame with a row for each process: its exit status, the class and message of what ended its call, and how many
# seconds after the signal, or after the other one left, that was.
end_one_of_two <- function(how, victims, heartbeat = 5, patience = 90) {
  folder <- withr::local_tempdir()
  ports <- replicate(length(victims), free_port())
  runs <- processes(2 * length(victims), sprintf('
    round <- i %%/%% 2 + 1; i <- i %%%% 2; how <- "%s"; at <- file.path("%s", round)
    victim <- %s[[round]]; port <- %s[[round]]
    d <- pjrt_distributed(paste0("127.0.0.1:", port), 2, i, startup_timeout = 60, heartbeat_timeout = %d)
    mesh <- xla_mesh(c(d = 2))
    loop <- xla_shard_map(function(x, most) {
      hlo_while(function(s) hlo_psum(sum(s), "d") < most, function(s) s + 1, x)
    }, mesh, list("d", xla_spec()), "d")
    x <- xla_shard(c(0, 1) + i, mesh, "d", global_shape = 4)
    # Compiled, and the processes are connected.
    invisible(loop(x, 50))
    now <- function() as.numeric(Sys.time())
    if (i == victim) {
      signal <- sprintf("kill -%%s %%d", if (how == "kill") "KILL" else "INT", Sys.getpid())
      system(sprintf("(sleep 0.7; date +%%%%s.%%%%N > %%s; %%s) > /dev/null 2>&1 &", at, signal))
    }
    ended <- tryCatch(loop(x, Inf), error = identity, interrupt = identity)
    seconds <- now() - as.numeric(readLines(at))
    cat("ended", seconds, class(ended)[[1]], gsub("\\n *", " ", conditionMessage(ended)), "\\n", sep = "\\t")
    if (i == victim) writeLines(format(now(), digits = 15), at)
  ', how, folder, deparse(as.integer(victims)), deparse(as.integer(ports)), heartbeat), timeout = patience)
  rows <- lapply(runs, function(run) {
    ended <- grep("^ended\t", run$output, value = TRUE)
    parts <- if (length(ended) == 1L) strsplit(ended, "\t", fixed = TRUE)[[1L]] else character()
    data.frame(
      status = run$status, seconds = as.numeric(parts[2L]), class = parts[3L],
      message = parts[4L], output = paste(run$output, collapse = "\n")
    )
  })
  lapply(seq_along(victims), function(round) do.call(rbind, rows[2 * round - 1:0]))
}

# Ends a process of start_program() as soon as it has made `file`.
kill_once_there <- function(running, file) {
  while (!file.exists(file)) {
    if (!is.null(.Call(xlaffi:::wrap__process_wait, running$process, 0.05))) {
      stop("the process has ended: ", toString(xlaffi:::finish_program(running)$output))
    }
  }
  .Call(xlaffi:::wrap__process_stop, running$process)
}
