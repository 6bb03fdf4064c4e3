#' The HLO of a program
#'
#' Compiles a program and shows what XLA made of it, before and after its optimisations. XLA writes
#' that to files, if the environment variable `XLA_FLAGS` says so.
#'
#' @details
#' XLA reads `XLA_FLAGS` once, before the first program is compiled. So it must be set at the
#' beginning of the session, with two flags:
#' ```r
#' Sys.setenv(XLA_FLAGS = "--xla_dump_to=/tmp/hlo --xla_dump_hlo_as_text")
#' ```
#'
#' @param program A program, see [pjrt_program()].
#' @param device The device to compile for, see [pjrt_compile()].
#' @return A list, class `xlaffi_hlo`, of `before_optimizations` and `after_optimizations`: strings
#'   that print as they are.
#' @examplesIf plugins_downloaded() && grepl("xla_dump_to", Sys.getenv("XLA_FLAGS"))
#' inspect_hlo(pjrt_program("
#' func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
#'   %0 = stablehlo.add %x, %x : tensor<2xf32>
#'   return %0 : tensor<2xf32>
#' }
#' "))$after_optimizations
#' @export
inspect_hlo <- function(program, device = NULL) {
  check_given(program)
  check(.Call(wrap__program_info, program))
  device <- as_pjrt_device(device)
  folder <- hlo_dump_folder()
  if (is.null(folder)) {
    abort("XLA_FLAGS does not tell XLA to write its programs to files",
      code = "FAILED_PRECONDITION", hint = c(
        "In a new session, before anything is compiled:",
        "`Sys.setenv(XLA_FLAGS = \"--xla_dump_to=/tmp/hlo --xla_dump_hlo_as_text\")`"
      )
    )
  }
  # A new session writes to the same names again, so it is the time that tells.
  times <- function() {
    files <- list.files(folder, "_optimizations[.]txt$", full.names = TRUE)
    stats::setNames(as.numeric(file.mtime(files)), files)
  }
  before <- times()
  pjrt_compile(program, device = device)
  after <- times()
  written <- names(after)[is.na(before[names(after)]) | after > before[names(after)]]
  stages <- c("before_optimizations", "after_optimizations")
  files <- lapply(stages, function(stage) sort(grep(paste0(stage, "[.]txt$"), written, value = TRUE)))
  if (!all(lengths(files))) {
    abort(sprintf("XLA has written no program to \"%s\"", folder),
      code = "FAILED_PRECONDITION",
      hint = "It reads XLA_FLAGS once, before the first program is compiled: start a new session."
    )
  }
  texts <- lapply(files, function(files) {
    structure(paste(readLines(files[[1L]]), collapse = "\n"), class = "xlaffi_text")
  })
  structure(stats::setNames(texts, stages), class = "xlaffi_hlo")
}

# The folder that XLA writes programs to as text; NULL where it does not.
hlo_dump_folder <- function() {
  flags <- scan(text = Sys.getenv("XLA_FLAGS"), what = "", quiet = TRUE)
  to <- grep("^--xla_dump_to=.", flags, value = TRUE)
  as_text <- flags %in% c("--xla_dump_hlo_as_text", "--xla_dump_hlo_as_text=true")
  if (length(to) && any(as_text)) sub("^--xla_dump_to=", "", to[[length(to)]])
}

#' @export
format.xlaffi_hlo <- function(x, ...) {
  check_format_dots(...)
  lines <- vapply(unclass(x), function(text) length(strsplit(text, "\n", fixed = TRUE)[[1L]]), 0L)
  module <- sub("^HloModule ([^, ]*).*$", "\\1", strsplit(x$before_optimizations, "\n", fixed = TRUE)[[1L]][[1L]])
  c(sprintf("<HLO of %s>", module), sprintf("  $%s: %d lines", names(lines), lines))
}

#' @export
print.xlaffi_hlo <- function(x, ...) {
  check_print_dots(...)
  cat(format(x), sep = "\n")
  invisible(x)
}
