# What lies outside of the session: clocks, files, other processes, the user at the keyboard. What traced code reads
# there would be read once, while the program is written, and no later call would notice that it is another by now. So
# it is refused, as R's random numbers are; facts that cost nothing to ask again are noted (overload-reads.R).

outside_hints <- c(
  clock = "Pass the time as an argument; what measures goes around the compiled function.",
  file = "Read it before: a variable that is changed is noticed. `ffi_callback()` calls R when the program runs.",
  process = "Ask for it before: a variable that is changed is noticed. `ffi_callback()` calls R when the program runs."
)

outside_names <- list(
  base = list(
    clock = c("Sys.time", "Sys.Date", "date", "proc.time", "system.time", "gc.time"),
    file = c(
      "file.exists", "file.info", "file.size", "file.mtime", "file.mode", "file.access", "file.choose", "file.show",
      "dir.exists", "list.files", "list.dirs", "dir", "Sys.glob", "Sys.readlink", "normalizePath", "tempfile", "file",
      "url", "gzfile", "bzfile", "xzfile", "unz", "fifo", "readRDS", "infoRDS", "readLines", "readBin", "readChar",
      "read.dcf", "scan", "load", "source", "sys.source", "dget", "parse", "readRenviron", "unserialize", "gzcon",
      "getConnection", "getAllConnections", "showConnections", "summary.connection", "isIncomplete", "isOpen", "seek",
      "seek.connection", "pushBackLength", "lazyLoad", "lazyLoadDBexec", "sys.load.image", "curlGetHeaders"
    ),
    process = c(
      "readline", "stdin", "system", "system2", "shell", "pipe", "socketConnection", "serverSocket", "socketAccept",
      "socketSelect", "Sys.which", "gc", "gcinfo", "gctorture", "memory.profile", "mem.maxVSize", "mem.maxNSize",
      "Cstack_info", "traceback", ".traceback", "geterrmessage"
    )
  ),
  stats = list(file = "read.ftable"),
  utils = list(
    clock = "timestamp",
    file = c(
      "read.table", "read.csv", "read.csv2", "read.delim", "read.delim2", "read.fwf", "read.DIF", "read.fortran",
      "count.fields", "file_test", "fileSnapshot", "changedFiles", "readCitationFile", "summaryRprof", "download.file",
      "url.show", "untar", "unzip", "loadhistory"
    ),
    process = c("menu", "askYesNo", "select.list", "sessionInfo", "memory.size", "memory.limit")
  )
)

# What reads out of a value of R's as well as out of a file
is_local_source <- function(...) {
  given <- given_arguments(...)
  first <- if (length(given)) given[[1L]]
  "text" %in% names(given) || is.raw(first) || inherits(first, c("textConnection", "rawConnection"))
}

refusing_outside <- function(name, package, hint) {
  force(hint)
  local <- name %in% c(
    "readLines", "readBin", "readChar", "read.dcf", "scan", "source", "parse", "unserialize", "read.table", "read.csv",
    "read.csv2", "read.delim", "read.delim2", "read.fwf", "read.DIF", "count.fields", "isIncomplete", "isOpen",
    "pushBackLength", "summary.connection", "seek"
  )
  function(...) {
    if (!is_tracing() || (local && is_local_source(...))) {
      return(do.call(getExportedValue(package, name), list(...)))
    }
    abort(sprintf("%s() would be asked once, while the program is written, for all its runs", name), "UNIMPLEMENTED",
      op = name, hint = hint, call = sys.call()
    )
  }
}

outside_functions <- list2env(parent = emptyenv(), unlist(lapply(names(outside_names), function(package) {
  unlist(lapply(names(outside_names[[package]]), function(kind) {
    names <- outside_names[[package]][[kind]]
    stats::setNames(lapply(names, refusing_outside, package, outside_hints[[kind]]), names)
  }))
})))

# Facts of the session that are compared before each run
noted_facts <- c(
  "getwd", "Sys.getlocale", "Sys.localeconv", "Sys.timezone", "l10n_info", "search", "searchpaths", "loadedNamespaces",
  "Sys.umask", "RNGkind", "getLoadedDLLs", ".libPaths"
)

noting_fact <- function(name) {
  force(name)
  # With arguments some of them change what they tell; those of Sys.getlocale() ask for a part of it.
  function(...) {
    if (...length() && name != "Sys.getlocale") getExportedValue("base", name)(...) else noted_read(name, list(...))
  }
}

# What R's own functions ask of the session besides their arguments
asked_by <- list(
  contrasts = c("contrasts", "model.matrix", "model.matrix.default", "model.frame", "lm", "glm", "aov", "nls", "C"),
  na.action = c("model.frame", "model.frame.default", "lm", "glm", "aov", "nls", "xtabs"),
  TZ = c("as.POSIXct", "as.POSIXlt", "ISOdatetime", "ISOdate", "strptime", "as.Date")
)

note_asked <- function(name) {
  if (!is_tracing()) {
    return(invisible())
  }
  for (what in names(asked_by)) {
    if (name %in% asked_by[[what]]) noted_read(if (what == "TZ") "Sys.getenv" else "getOption", list(what))
  }
}
