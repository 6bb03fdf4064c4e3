# What xlaffi_sitrep() writes of its findings: for each what is wrong, if something is, and the command that mends it.

report <- function(found) {
  cli::cli_h1("xlaffi {found$version}")
  cli::cli_bullets(c("*" = "R {found$r}, {found$system}"))
  cli::cli_h2("Plugins")
  for (platform in names(found$plugins)) {
    report_plugin(platform, found$plugins[[platform]], found)
  }
  for (i in seq_len(NROW(found$processes))) {
    cli::cli_bullets(c("*" = "process {trimws(process_line(found$processes[i, ]))}"))
  }
  report_programs(found$programs)
  cli::cli_h2("Python for the CPU plugin")
  runtime <- found$plugins$cpu$runtime
  without_python <- !is.null(runtime) && runtime != "jaxlib"
  if (without_python) {
    cli::cli_bullets(c("*" = "none is needed"))
  } else {
    report_python(found$python)
  }
  cli::cli_h2("Linear algebra")
  report_lapack(found$lapack, without_python)
  cli::cli_bullets(c("*" = "{found$targets} custom call target{?s}, see {.code ffi_targets()}"))
  cli::cli_h2("CUDA")
  report_cuda(found$cuda)
  cli::cli_h2("Environment variables")
  if (length(found$variables)) {
    for (name in names(found$variables)) {
      value <- found$variables[[name]]
      cli::cli_bullets(c("*" = "{name} = {.val {value}}"))
    }
  } else {
    cli::cli_bullets(c("*" = "none of ours is set"))
  }
}

# (Counts by counted(): cli::pluralize() of Debian 12 needs the package glue.)
report_plugin <- function(platform, plugin, found) {
  variable <- sprintf("PJRT_PLUGIN_PATH_%s", toupper(platform))
  no_driver <- platform == "cuda" && !all(is.na(found$cuda$problem[found$cuda$library == "NVIDIA's driver"]))
  where <- switch(plugin$state,
    loaded = sprintf("loaded from {.path {plugin$path}}, PJRT API {plugin$api}"),
    "{.path {plugin$path}}"
  )
  if (plugin$state == "missing") {
    cli::cli_bullets(if (platform == "cpu") {
      c(x = "cpu: none", i = if (is.null(wheel_problem())) {
        "{.run install_pjrt(\"plugin\")} brings one that needs no Python; the included one needs jaxlib, see below."
      } else {
        "The included one needs a Python with jaxlib, see below."
      })
    } else {
      c("*" = "{platform}: none; {variable} names one")
    })
  } else if (plugin$state == "unusable") {
    cli::cli_bullets(c(
      x = "{platform}: {plugin$problem}",
      i = if (nzchar(Sys.getenv(variable))) {
        "{.run Sys.unsetenv(\"{variable}\")} goes back to the plugin that there would be without it."
      } else {
        "{.run unlink(\"{plugin$path}\")} removes what was downloaded; {.run install_pjrt()} downloads it again."
      }
    ))
  } else if (!is.null(plugin$problem) || no_driver) {
    cli::cli_bullets(c(
      x = paste0("{platform}: ", where),
      if (!is.null(plugin$problem)) c(" " = "no client: {plugin$problem}"),
      i = if (no_driver) {
        "NVIDIA's driver was not found: {.code nvidia-smi} in a terminal tells whether the system has it."
      } else {
        "{.run pjrt_client(\"{platform}\")} tries again."
      }
    ))
  } else {
    cli::cli_bullets(c(v = paste0("{platform}: ", where, "{if (!is.null(plugin$devices)) ', '}{
      if (!is.null(plugin$devices)) counted(plugin$devices, 'device')}")))
    report_runtime(plugin$runtime)
  }
}

# Whose XLA it is, and what it cannot do that the plugin inside this package can.
report_runtime <- function(runtime) {
  if (is.null(runtime) || runtime == "jaxlib") {
    return(invisible())
  }
  cli::cli_bullets(c(
    " " = "XLA without Python: {runtime}",
    " " = "It has no programs over several devices or processes, no memory statistics, no options `num_threads` and
      `collective_timeout`, and keeps no order of calls with side effects; {.run install_pjrt(\"jaxlib\")} brings one
      that has."
  ))
}

report_programs <- function(programs) {
  if (is.null(programs$problem)) {
    size <- format_bytes(programs$bytes)
    limit <- format_bytes(programs$limit)
    cli::cli_bullets(c("*" = "compiled programs are kept in {.path {programs$path}}, see {.code ?xla_cache}:
      {programs$count} program{?s}, {size} of {limit}"))
    return(invisible())
  }
  cli::cli_bullets(c(
    "*" = "compiled programs are not kept for later sessions: {programs$problem}",
    i = if (is.null(programs$path)) {
      if (is.null(getOption("xlaffi.program_cache"))) {
        "{.run Sys.unsetenv(\"XLAFFI_PROGRAM_CACHE\")} turns it on."
      } else {
        "{.run options(xlaffi.program_cache = TRUE)} turns it on."
      }
    } else if (grepl("by others$", programs$problem)) {
      "{.run Sys.chmod(\"{programs$path}\", \"0700\")} makes it yours alone."
    } else {
      "{.code options(xlaffi.program_cache = \"folder\")} names another folder."
    }
  ))
}

report_python <- function(python) {
  for (place in python$places) {
    cli::cli_bullets(stats::setNames("{place}", if (place == python$chosen) "v" else "*"))
  }
  if (!nzchar(python$chosen)) {
    report_missing_python(python$places)
  } else {
    report_jaxlib(sub("^.*: jaxlib ", "", python$chosen))
  }
}

# The versions that the plugin has been tested with; an interpreter with an older one is not taken.
tested_jaxlib <- c("0.10", "0.12")

report_jaxlib <- function(version) {
  numbers <- sub("^([0-9]+[.][0-9]+).*", "\\1", version)
  if (grepl("^[0-9]+[.][0-9]+$", numbers) && utils::compareVersion(numbers, tested_jaxlib[[2L]]) > 0L) {
    range <- paste(tested_jaxlib, collapse = " to ")
    cli::cli_bullets(c("!" = "jaxlib {version} is newer than what the plugin has been tested with, {range}: where it
      fails, {.code pip install {python_packages[[1L]]}} in that Python."))
  }
}

# What gives the plugin a Python: which command it is depends on what is there.
report_missing_python <- function(places) {
  given <- Sys.getenv("XLAFFI_PYTHON")
  base <- if (nzchar(given)) given else Sys.which("python3")[[1L]]
  # As the glue says of an interpreter that install_pjrt() could not use either
  unfit <- grepl("Python [0-9.]+ (is|lacks)|not a Python", places[[length(places)]])
  packages <- paste(python_packages, collapse = " ")
  cli::cli_bullets(c(i = if (nzchar(given) && !file.exists(given)) {
    "{.run Sys.unsetenv(\"XLAFFI_PYTHON\")} has others looked at."
  } else if (!nzchar(base) || unfit) {
    "{.code {python_install()}} in a terminal brings a Python, {.run install_pjrt()} then what the plugin needs."
  } else if (nzchar(given)) {
    "{.code {given} -m pip install {packages}} in a terminal makes it usable."
  } else {
    "{.run install_pjrt()} makes what the plugin needs."
  }))
}

python_install <- function() {
  switch(Sys.info()[["sysname"]],
    Darwin = "brew install python@3.12",
    Windows = "winget install Python.Python.3.12",
    if (nzchar(Sys.which("dnf"))) "dnf install python3 python3-libs" else "apt install python3-venv libpython3-dev"
  )
}

report_lapack <- function(lapack, without_python = FALSE) {
  # Which one is in use is settled with the first that is needed.
  brings <- if (nzchar(Sys.getenv("XLAFFI_LAPACK"))) {
    "{.run Sys.unsetenv(\"XLAFFI_LAPACK\")} at the start of a session has others looked at."
  } else if (without_python) {
    "The system's OpenBLAS is taken where it has one: {.code apt install libopenblas0} in a terminal."
  } else {
    "{.run install_pjrt()} brings OpenBLAS, in a Python of your own {.code pip install scipy-openblas32}."
  }
  if (!is.null(lapack$problem)) {
    cli::cli_bullets(c(x = "{lapack$problem}", i = brings))
    return(invisible())
  }
  threads <- lapack$threads
  cli::cli_bullets(c(
    v = "LAPACK: {lapack$version}, {lapack$place} ({.path {lapack$path}}){if (!is.null(threads)) ', '}{
      if (!is.null(threads)) counted(threads, 'thread')}",
    if (!lapack$single_precision) {
      c("*" = "f32 and c64 are computed in double precision: this LAPACK has no single precision, or is not to use it")
    },
    if (is.null(threads)) {
      c(i = paste("This looks like the reference LAPACK; OpenBLAS is many times faster.", brings))
    }
  ))
  for (i in seq_len(nrow(lapack$refused))) {
    refused <- lapack$refused[i, ]
    cli::cli_bullets(c("*" = "not taken: {refused$place} ({.path {refused$path}}): it {refused$why}"))
  }
}

report_cuda <- function(cuda) {
  if (all(is.na(cuda$path))) {
    cli::cli_bullets(c("*" = "none of NVIDIA's libraries; {.code xlaffi_sitrep()$cuda} tells what was tried"))
    return(invisible())
  }
  for (i in seq_len(nrow(cuda))) {
    library <- cuda$library[[i]]
    path <- cuda$path[[i]]
    problem <- cuda$problem[[i]]
    cli::cli_bullets(if (is.na(path)) c(x = "{problem}") else c(v = "{library}: {.path {path}}"))
  }
}
