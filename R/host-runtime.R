# A CPU plugin that needs no Python: the shared library in a wheel of Python's package index. A wheel is a zip file,
# which R unpacks. It is pinned by its digest: what an index has under that name counts only with it.
# docs/decisions/73-runtime-without-python.md tells why it is these.

# For a processor: the project, its wheel, the shared library in there, and the bytes of both.
wheels <- list(
  x86_64 = list(
    project = "lammps-jax-pjrt-cpu", wheel = "lammps_jax_pjrt_cpu-0.11.2-py3-none-manylinux_2_27_x86_64.whl",
    sha256 = "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1", bytes = 62711338,
    file = "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", unpacked = 201600336,
    origin = "lammps-jax's build of the XLA of jaxlib 0.11.2"
  ),
  aarch64 = list(
    project = "xla-cpu-pjrt", wheel = "xla_cpu_pjrt-0.0.1-py3-none-manylinux_2_27_aarch64.whl",
    sha256 = "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9", bytes = 49514947,
    file = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", unpacked = 200328224,
    origin = "the OpenXLA authors' build of November 2025"
  )
)

# The C library that the wheels want.
wheel_glibc <- "2.27"

# The wheel for this system, or NULL.
own_wheel <- function() {
  system <- Sys.info()
  if (system[["sysname"]] == "Linux") wheels[[system[["machine"]]]]
}

# That of glibc, or NULL where the C library is another one.
glibc_version <- function() {
  printed <- tryCatch(
    suppressWarnings(system2("getconf", "GNU_LIBC_VERSION", stdout = TRUE, stderr = FALSE)),
    error = function(error) ""
  )
  version <- sub("^glibc ", "", paste(printed, collapse = ""))
  if (grepl("^[0-9]+[.][0-9]+", version)) version
}

# Why the wheel cannot be used here, or NULL.
wheel_problem <- function() {
  if (is.null(own_wheel())) {
    system <- Sys.info()
    return(sprintf(
      "a CPU plugin without Python is known for Linux on x86-64 and aarch64 only, not for %s on %s",
      system[["sysname"]], system[["machine"]]
    ))
  }
  version <- glibc_version()
  if (is.null(version)) {
    return(sprintf(
      "the CPU plugin without Python needs glibc %s or newer; this system has another C library", wheel_glibc
    ))
  }
  if (utils::compareVersion(version, wheel_glibc) < 0L) {
    sprintf("the CPU plugin without Python needs glibc %s or newer; this system has %s", wheel_glibc, version)
  }
}

# Makes the plugin of the wheel that of the CPU: from `file`, a wheel on this computer, or from the index.
install_wheel <- function(file = NULL, call = rlang::caller_env()) {
  problem <- wheel_problem()
  if (!is.null(problem)) {
    abort(problem,
      code = "UNIMPLEMENTED", call = call,
      hint = "`install_pjrt(\"jaxlib\")` takes XLA from jaxlib, which needs a Python of 3.11 or newer."
    )
  }
  wheel <- own_wheel()
  place_plugin(wheel$wheel, call, function(folder) {
    archive <- if (is.null(file)) download_wheel(wheel, file.path(dirname(folder), wheel$wheel), call) else file
    shown <- if (is.null(file)) wheel$wheel else file
    check_digest(archive, wheel$sha256, shown, call)
    unpack_member(archive, wheel, folder, shown, call)
  })
}

# The CPU plugin that the package pjrt has downloaded, or NULL. It keeps it in a cache of its own.
plugin_of_pjrt <- function() find_library(file.path(tools::R_user_dir("pjrt", "cache"), "cpu"))

source_pjrt <- "downloaded by the package pjrt"

# Makes that plugin ours. It is copied, as pjrt replaces its file when it wants another version.
install_pjrt_download <- function(call = rlang::caller_env()) {
  library <- plugin_of_pjrt()
  if (is.null(library)) {
    abort(sprintf("the package pjrt has downloaded no CPU plugin into \"%s\"",
      file.path(tools::R_user_dir("pjrt", "cache"), "cpu")), code = "NOT_FOUND", operand = "runtime", call = call,
      hint = c(
        "`pjrt::install_pjrt()` downloads it.",
        "`install_pjrt(\"plugin\")` and `install_pjrt(\"jaxlib\")` do without."
      )
    )
  }
  place_plugin(source_pjrt, call, function(folder) {
    if (!file.copy(library, folder)) {
      abort(sprintf("cannot copy \"%s\" into \"%s\"", library, dirname(folder)),
        code = "RESOURCE_EXHAUSTED", call = call,
        hint = sprintf("It needs %s there: is the disk full?", format_bytes(file.size(library)))
      )
    }
  })
}

# Makes the plugin that `fill` puts into a folder that of the CPU, in one step.
place_plugin <- function(source, call, fill) {
  # Beside its place.
  work <- cache_dir(sprintf(".cpu-%d", Sys.getpid()))
  unlink(work, recursive = TRUE)
  folder <- file.path(work, "cpu")
  if (!dir.create(folder, recursive = TRUE, showWarnings = FALSE)) {
    abort(sprintf("cannot make the folder \"%s\"", work), code = "FAILED_PRECONDITION", call = call)
  }
  on.exit(unlink(work, recursive = TRUE))
  fill(folder)
  writeLines(source, file.path(folder, "source"))
  place <- cache_dir("cpu")
  unlink(place, recursive = TRUE)
  if (!file.rename(folder, place)) {
    abort(sprintf("cannot put the plugin into \"%s\"", place), code = "FAILED_PRECONDITION", call = call)
  }
  find_library(place)
}

unpack_member <- function(archive, wheel, folder, shown, call) {
  result <- tryCatch(
    utils::unzip(archive, files = wheel$file, exdir = folder, junkpaths = TRUE),
    warning = identity, error = identity
  )
  made <- file.path(folder, basename(wheel$file))
  if (!identical(file.size(made), wheel$unpacked)) {
    reason <- if (inherits(result, "condition")) conditionMessage(result) else "the file is not whole"
    abort(sprintf("cannot unpack \"%s\" into \"%s\": %s", shown, dirname(folder), reason),
      code = "RESOURCE_EXHAUSTED", call = call,
      hint = sprintf("It needs %s there: is the disk full?", format_bytes(wheel$unpacked))
    )
  }
}

# The wheel in `file`, by the index's page of the project, as pip reads it.
download_wheel <- function(wheel, file, call) {
  hint <- c(
    "`options(xlaffi.pypi = )` names another index, such as a mirror: the address of its simple API.",
    sprintf("Without a network, `install_pjrt(file = )` takes \"%s\" from this computer.", wheel$wheel)
  )
  index <- package_index(call)
  page <- paste0(index, "/", wheel$project, "/")
  # Where no server does.
  page_file <- if (grepl("^file:", page)) paste0(page, "index.html") else page
  text <- tempfile("xlaffi-index-")
  on.exit(unlink(text))
  fetch_file(page_file, text, hint = hint, call = call)
  link <- wheel_link(readLines(text, warn = FALSE), wheel$wheel)
  if (is.null(link)) {
    abort(sprintf("the index \"%s\" has no \"%s\"", without_password(index), wheel$wheel),
      code = "NOT_FOUND", call = call, hint = hint
    )
  }
  cli::cli_inform(c(i = "Downloading {.file {wheel$wheel}} ({format_bytes(wheel$bytes)})"))
  fetch_file(resolved_link(link, page), file, "the plugin", wheel$bytes, hint, call)
  file
}

package_index <- function(call) {
  said <- getOption("xlaffi.pypi", Sys.getenv("PIP_INDEX_URL"))
  index <- if (identical(said, "")) "https://pypi.org/simple" else said
  if (!is_string(index) || !grepl("^(https?|file)://", index)) {
    abort(sprintf("option `xlaffi.pypi` must be the address of an index, such as \"https://pypi.org/simple\", not %s",
      describe(index)), operand = "xlaffi.pypi", call = call)
  }
  sub("/+$", "", index)
}

without_password <- function(url) sub("//[^/@]*@", "//", url)

# The link to a file on a page of an index, without its digest; NULL where there is none.
wheel_link <- function(lines, wheel) {
  found <- regmatches(lines, gregexpr("href=[\"'][^\"'#]*", lines))
  links <- gsub("&amp;", "&", sub("^href=[\"']", "", unlist(found)), fixed = TRUE)
  links <- links[basename(sub("[?].*$", "", links)) == wheel]
  if (length(links)) links[[1L]]
}

# A link as an address, where the page is at `page`.
resolved_link <- function(link, page) {
  if (grepl("^[a-z]+:", link)) {
    return(link)
  }
  if (startsWith(link, "//")) {
    return(paste0(sub("//.*$", "", page), link))
  }
  root <- sub("^([a-z]+://[^/]*).*$", "\\1", page)
  path <- if (startsWith(link, "/")) link else paste0(sub("[^/]*$", "", substring(page, nchar(root) + 1L)), link)
  kept <- character()
  for (part in strsplit(path, "/", fixed = TRUE)[[1L]][-1L]) {
    kept <- if (part == "..") utils::head(kept, -1L) else if (part == ".") kept else c(kept, part)
  }
  paste(c(root, kept), collapse = "/")
}
