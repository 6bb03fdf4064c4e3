#' Ops in chunks of R Markdown
#'
#' While this package is loaded, \pkg{knitr} knows the engine `xlaffi`: a chunk of code in C, C++, Fortran or Rust
#' defines an op, a variable for the R chunks behind it.
#'
#' @details
#' ````
#' ```{xlaffi times, signature = "x: T[n], y: T[] -> z: T[n]"}
#' for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;
#' ```
#' ````
#' Options of the chunk are the arguments of [ffi_source()]: `signature`, `lang`, `dtypes`, `support`, `init`,
#' `cleanup`, `on_load`, `on_unload`, `flags`, `libraries`, `native`, `openmp`, `debug`, `dependencies`, `threads`,
#' `side_effect`, and the rules `jvp`, `vjp`, `transpose` and `vmap`. Two differ:
#' * `name`: the op's and the variable's name; the chunk's label if it is left out.
#' * `include` is \pkg{knitr}'s own: folders with header files go into `flags`, as `-I`.
#'
#' The page shows the signature as a comment above the code. `eval`, `echo` and `error` mean what they do in other
#' chunks. The package is loaded by `library(xlaffi)` in a chunk before.
#'
#' @examplesIf plugins_downloaded() && nzchar(Sys.which("gcc")) && requireNamespace("knitr", quietly = TRUE)
#' page <- c(
#'   "```{xlaffi times, signature = 'x: T[n], y: T[] -> z: T[n]'}",
#'   "for (int64_t i = 0; i < n; i++) z[i] = x[i] * *y;",
#'   "```",
#'   "`r times(c(1, 2, 3), 2)`"
#' )
#' cat(knitr::knit(text = page, quiet = TRUE))
#' @name ffi_chunk
#' @seealso [ffi_source()]; `vignette("own-ops")` has a chunk of each language.
NULL

join_knitr <- function() {
  setHook(packageEvent("knitr", "onLoad"), register_engine)
  if (isNamespaceLoaded("knitr")) {
    register_engine()
  }
}

leave_knitr <- function() {
  remove_hook("knitr", register_engine)
}

register_engine <- function(...) {
  knitr::knit_engines$set(xlaffi = own_chunk)
}

# What knitr calls for a chunk: defines the op, and returns what the page shows.
own_chunk <- function(options) {
  language <- if (is.null(options$lang)) "c" else options$lang
  shown <- options
  shown$engine <- c("c++" = "cpp", xla = "cpp")[language]
  if (is.na(shown$engine)) {
    shown$engine <- language
  }
  message <- ""
  if (!identical(options$eval, FALSE)) {
    define <- function() {
      page <- knitr::knit_global()
      page[[chunk_name(options)]] <- chunk_op(options)
    }
    if (isTRUE(options$error)) {
      tryCatch(define(), error = function(error) message <<- paste("Error:", conditionMessage(error)))
    } else {
      define()
    }
  }
  mark <- if (language == "fortran") "!" else "//"
  name <- if (is.null(options$name)) options$label else options$name
  head <- sprintf("%s %s(%s)", mark, name, gsub("\\s+", " ", options$signature))
  knitr::engine_output(shown, c(head, options$code), message)
}

chunk_op <- function(options) {
  arguments <- setdiff(names(formals(ffi_source)), c("code", "file", "name", "include"))
  given <- options[names(options) %in% arguments]
  # Handlers have names of their own.
  name <- if (!identical(options$lang, "xla")) chunk_name(options)
  do.call("ffi_source", c(list(code = options$code, name = name), given))
}

chunk_name <- function(options) {
  name <- if (is.null(options$name)) options$label else options$name
  if (!is.character(name) || !grepl("^[A-Za-z_][A-Za-z0-9_]*$", name)) {
    abort(sprintf("the chunk %s defines an op and has no name for it", dQuote(options$label, FALSE)),
      operand = "name", hint = "Its label, or the option `name`, must be letters, digits and `_`.", call = NULL
    )
  }
  name
}
