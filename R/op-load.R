#' Ops from a library that is compiled already
#'
#' Loads a shared library and makes an op of a function in it, or registers handlers that it holds.
#'
#' @details With a signature and without `arguments` the function is `int32_t f(const xlaffi_call *call)`, as
#'   `xlaffi.h` of this package declares it. With `arguments` it is any function of pointers and 64-bit integers.
#'   Each of them is named after what it takes:
#' * `"x"`, an array: its address. What the function overwrites must be a result (in place if it is an operand too)
#'   or scratch memory.
#' * `"n"`, a dimension or an attribute that is an integer: an `int64_t` by value. Arrays of attributes: the address.
#' * `"*n"`: the address of an `int` with that dimension; `"*alpha"`: the address of an attribute's value in the
#'   dtype that it has.
#'
#' The function runs on threads of XLA's, not on R's. What a C++ function throws is caught and becomes the program's
#' error. Nothing can catch what R's `error()` does there, or any other function of R's: a function that calls one
#' crashes the session or leaves it broken. Make an op of it by [ffi_routine()] if it is one for `.C()` or
#' `.Fortran()`, or call it from a function of [ffi_callback()].
#'
#' Without a signature the symbols are handlers made with XLA's own headers, registered as
#' [pjrt_register_custom_call()] does.
#'
#' The library stays loaded as long as an op of it is in use. To load a newer build, give it another name: the system
#' does not load a file a second time that it has.
#'
#' @param path The library: its file, or an element of [getLoadedDLLs()], for a package's own.
#' @param symbols The function's name. Where the signature has dtype variables, one name for each dtype, `c(f32 =
#'   "times_float", f64 = "times_double")`, or combination of dtypes, `c("f32, i32" = "add_float")`. Of handlers,
#'   their names, with those of their targets if they differ: `c(target = "Symbol")`.
#' @param arguments What the function's arguments take, see below.
#' @param status Whether the function returns an `int` that tells an error where it is not 0.
#' @inheritParams ffi_source
#' @return An op, see [ffi_source()]; of handlers the names of their targets, invisibly.
#' @seealso [ffi_routine()] for routines of packages.
#' @examplesIf plugins_downloaded() && nzchar(Sys.which("gcc"))
#' \donttest{
#' source <- tempfile(fileext = ".c")
#' writeLines("void twice(double *x, int *n) { for (int i = 0; i < *n; i++) x[i] *= 2; }", source)
#' library <- sub("c$", "so", source)
#' system2("gcc", c("-shared", "-fPIC", "-o", library, source))
#' twice <- ffi_load(library, "twice", "x: f64[n] -> x: f64[n]", c("x", "*n"))
#' twice(c(1, 2, 3))
#' }
#' @export
ffi_load <- function(path, symbols, signature = NULL, arguments = NULL, name = NULL, status = FALSE, threads = TRUE,
                     side_effect = FALSE, jvp = NULL, vjp = NULL, transpose = NULL, vmap = NULL) {
  check_given(path, symbols)
  symbols <- stats::setNames(check_strings(symbols, "symbols"), names(symbols))
  if (!length(symbols)) {
    abort("`symbols` names no function", operand = "symbols")
  }
  library <- library_at(path)
  pointers <- lapply(symbols, library$symbol)
  if (is.null(signature)) {
    targets <- names2(symbols)
    targets[!nzchar(targets)] <- symbols[!nzchar(targets)]
    common <- library_common(library$path, symbols, NULL)
    return(invisible(register_handlers(stats::setNames(pointers, targets), common)))
  }
  op <- list(name = if (is.null(name)) symbols[[1L]] else name, text = signature)
  check_op_name(op$name, environment())
  rules <- list(jvp = jvp, vjp = vjp, transpose = transpose, vmap = vmap)
  options <- loaded_options(threads, side_effect, status)
  options$package <- library$package
  options$common <- library_common(library$path, symbols, signature, arguments)
  options$digest <- text_digest(c(file_stamp(library$path), paste(names2(symbols), symbols), signature, arguments))
  loaded_op(op, pointers, argument_words(arguments, signature, op$name), options, rules)
}

# A library by its file, or one that R has loaded for a package: its path, how a function of it is found, the package.
library_at <- function(path, call = rlang::caller_env()) {
  if (inherits(path, "DLLInfo")) {
    symbol <- function(name) {
      tryCatch(getNativeSymbolInfo(name, path)$address, error = function(error) {
        abort(sprintf("%s has no function %s", path[["name"]], dQuote(name, FALSE)),
          code = "NOT_FOUND", operand = "symbols", call = call
        )
      })
    }
    return(list(path = path[["path"]], symbol = symbol, package = path[["name"]]))
  }
  path <- normalizePath(check_file(path, call = call), "/")
  opened <- check(.Call(wrap__library_open, unlike_loaded(path)), call)
  list(path = path, symbol = function(name) check(.Call(wrap__library_symbol, opened, name), call))
}

# The system takes a path that it has loaded for what it has loaded, whatever the file is now: one that was built again
# is loaded as a copy.
unlike_loaded <- function(path) {
  digest <- hash_file(path)
  if (is.null(op_state$loaded_files[[path]])) {
    op_state$loaded_files[[path]] <- digest
  }
  if (identical(op_state$loaded_files[[path]], digest)) {
    return(path)
  }
  copy <- tempfile("xlaffi-library", fileext = .Platform$dynlib.ext)
  file.copy(path, copy)
  copy
}

# A handler to a target, replacing one of that name without a word. `common`: of what they are made, see op-cache.R.
register_handlers <- function(pointers, common = NULL) {
  for (target in names(pointers)) {
    withCallingHandlers(
      pjrt_register_custom_call(target, list(host = pointers[[target]])),
      xlaffi_message_replaced = function(message) rlang::cnd_muffle(message)
    )
    check(.Call(wrap__code_note, target, common))
  }
  names(pointers)
}

loaded_options <- function(threads, side_effect, status, call = rlang::caller_env()) {
  check_flag(threads, "threads", call)
  check_flag(status, "status", call)
  check_side_effect(side_effect, "side_effect", call)
  list(threads = threads, side_effect = side_effect, status = status, foreign = TRUE)
}

# An op of functions that are there: one, or one for each combination of dtypes, named by it.
loaded_op <- function(op, pointers, words, options, rules, call = rlang::caller_env()) {
  op$signature <- read_signature(op$text, call)
  variables <- op$signature$dtypes
  given <- strsplit(names2(pointers), "[, ]+")
  complete <- FALSE
  if (all(lengths(given) == length(variables))) {
    op$dtypes <- lapply(seq_along(variables), function(i) unique(vapply(given, `[[`, "", i)))
    names(op$dtypes) <- variables
    # The dtypes of the last variable change fastest, as in the op's instances.
    combinations <- rev(expand.grid(rev(op$dtypes), stringsAsFactors = FALSE))
    wanted <- if (length(variables)) do.call(paste, combinations) else ""
    names(pointers) <- vapply(given, paste, "", collapse = " ")
    complete <- setequal(names(pointers), wanted) && !anyDuplicated(names(pointers))
  }
  if (!complete) {
    each <- paste0("`", variables, "`", collapse = " and ")
    kind <- if (length(variables) > 1L) "combination of dtypes" else "dtype"
    abort(
      sprintf("%s: there must be one function%s", op$name,
        if (length(variables)) sprintf(" for each %s of %s, named by it", kind, each) else ""
      ),
      op = op$name, operand = "symbols", call = call,
      hint = if (length(variables) > 1L) "As in c(\"f32, i32\" = \"f\", \"f64, i32\" = \"g\")."
    )
  }
  bodies <- Map(function(instance, pointer) {
    list(dtypes = unname(instance$dtypes), pointer = pointer, words = words, init = NULL, cleanup = NULL)
  }, op_instances(op, call), unname(if (length(variables)) pointers[wanted] else pointers))
  made_op(op, bodies, options, rules, call)
}

# How arguments are passed. `addresses`: integers go by address, as in `.C()` and `.Fortran()`.
argument_words <- function(arguments, text, op, addresses = FALSE, call = rlang::caller_env()) {
  if (is.null(arguments)) {
    return(NULL)
  }
  arguments <- check_strings(arguments, "arguments", call)
  if (length(arguments) > 65L) {
    abort(sprintf("%s: a function can have 65 arguments, not %d", op, length(arguments)),
      op = op, operand = "arguments", call = call
    )
  }
  signature <- read_signature(text, call)
  arrays <- vapply(c(signature$operands, signature$results, signature$scratch), `[[`, "", "name")
  words <- vapply(arguments, function(argument) {
    name <- sub("^[*]", "", argument)
    address <- addresses || startsWith(argument, "*")
    attribute <- signature$attributes[[name]]
    if (name %in% arrays && name == argument) {
      paste("array", name)
    } else if (name %in% signature$dims) {
      paste(if (address) "i32" else "value", name)
    } else if (is.null(attribute)) {
      abort(sprintf("%s: `arguments` has \"%s\", which the signature does not name", op, argument),
        op = op, operand = "arguments", call = call
      )
    } else if (!is.null(attribute$length) || attribute$dtype == "str") {
      paste("attribute", name)
    } else if (!address && grepl("^u?i[0-9]+$", attribute$dtype)) {
      paste("value", name)
    } else if (attribute$dtype %in% c("i32", "i64", "f64")) {
      # A copy: the function may write there.
      paste(attribute$dtype, name)
    } else {
      paste("attribute", name)
    }
  }, "", USE.NAMES = FALSE)
  left <- setdiff(names(c(signature$operands, signature$results)), arguments)
  if (length(left)) {
    kind <- if (left[[1L]] %in% names(signature$results)) "result" else "operand"
    abort(sprintf("%s: `arguments` does not have the %s `%s`", op, kind, left[[1L]]),
      op = op, operand = "arguments", call = call, hint = if (kind == "result") "The function would not write it."
    )
  }
  words
}
