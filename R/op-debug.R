#' Check custom calls while they run
#'
#' `ffi_debug()` evaluates an expression, and meanwhile runs the handler of every custom call on the CPU, whoever
#' wrote it, in memory of its own, several times, and looks at what it does to operands, results and the memory
#' beside them. It warns of what it finds.
#'
#' @details
#' What is looked for (`checks`):
#' - `"bounds"`: writes before or behind an operand, a result or scratch memory (`write_before`, `write_behind`); where
#'   what is written there was read beside another array, that too (`read_before`, `read_behind`).
#' - `"operands"`: operands that are changed, other than those whose memory a result has (`operand_changed`).
#' - `"unwritten"`: elements of results that are not written.
#' - `"repeat"`: results that differ between two runs on the same operands. The finding says whether they depend on
#'   what lies before or behind an operand or result (`read_before`, `read_behind`), on other memory that is no input,
#'   such as a result or scratch memory before it is written (`uninitialised`), or on anything else
#'   (`nondeterministic`).
#' - `"alignment"`: results that differ, in any bit, with operands at addresses that are multiples of 16 and not of
#'   64. XLA's own memory is aligned to 64 bytes, arrays that other programs hand over may be to 16.
#' - `"aliasing"`: results that share the memory of an operand (`aliases` of [hlo_custom_call()]) and differ with
#'   memory of their own.
#' - `"finite"`: NaN and infinities that come of finite operands (`not_finite`). They need not be a fault.
#'
#' With `guard_pages = TRUE` (not on Windows) what lies right behind an operand or result, and in a second run
#' right before it, cannot be touched at all: a handler that does, reading or writing, ends the R session there
#' with a segmentation fault, and a debugger shows the line. Behind, up to 15 bytes remain free, since operands
#' stay aligned to 16 bytes; behind scratch arrays of own ops up to 63.
#'
#' Scratch memory is that which a signature declares, and that which handlers in Rust take from the crate `xla-ffi`;
#' what a handler allocates by itself is its own.
#'
#' A handler is called three to four times, more often where something was found; its results are those of the
#' first call, and an error of the first call is the program's, as always. Calls that have no results (tokens
#' aside) and targets of which a program says `has_side_effect` run once, and so do those named in `once`; with one
#' run, only bounds, operands and finite numbers are looked at. What programs say is known of programs as text:
#' name the targets of others. Handlers that complete a call later are waited for, and their tasks have threads of
#' their own. States that a handler made in earlier stages are used as they are: a handler that counts its calls is
#' nondeterministic.
#'
#' Custom calls on other platforms run as always, with a finding `not_checked`. Indices of elements are those of
#' the array where the program's text tells how it lies in memory, as all programs written in R do; otherwise by
#' rows.
#'
#' Handlers run on threads of XLA's: while the expression is evaluated all programs of the session are
#' checked. Buffers that it returns are waited for. Where such calls are nested, the innermost has the findings.
#'
#' # For a whole session
#' `options(xlaffi.debug = TRUE)`, or the environment variable `XLAFFI_DEBUG=true` before R starts, checks
#' everything but `"finite"`. The option is looked at when the package is loaded and after each top-level
#' expression, and then it is warned of what was found meanwhile. `options(xlaffi.debug = c("bounds", "operands"))`
#' names the checks.
#'
#' @param expr An expression.
#' @param checks What to look for.
#' @param guard_pages Whether what lies beside operands and results cannot be touched, see details.
#' @param once Names of targets whose handlers must not run twice on the same operands.
#' @param action `"warn"`: a warning of class `xlaffi_warning_findings` if there are findings, with the field
#'   `findings`. `"error"`: an error of class `xlaffi_error_findings` in its place. `"none"`: neither.
#' @return `ffi_debug()` the value of `expr`. `ffi_findings()` the findings of the last `ffi_debug()`, or those
#'   that the option led to since, as a data frame of class `xlaffi_findings` with one row for each kind of fault
#'   and operand: `target`, `platform`, `kind`, `role` (`"operand"`, `"result"` or `"scratch"`), `operand` (its name
#'   where it is known, or its number), `dtype`, `shape`, `index` (of the first element, a list of numbers), `expected`
#'   and `got` (that element), `count` (of elements in the first such call; of bytes for writes outside), `calls` (with
#'   this finding) and `text`.
#' @seealso [ffi_profile()] for the time that custom calls take.
#' @examplesIf plugins_downloaded()
#' ffi_debug(xla_chol(diag(3)))
#' ffi_findings()
#' @export
ffi_debug <- function(expr, checks = c(
                        "bounds", "operands", "unwritten", "repeat", "alignment", "aliasing", "finite"
                      ), guard_pages = FALSE, once = character(), action = c("warn", "error", "none")) {
  if (is_missing_arg(substitute(expr))) refuse_missing("expr", environment())
  check_checks(checks)
  check_flag(guard_pages, "guard_pages")
  check_once(once)
  action <- check_choice(action, "action", c("warn", "error", "none"))
  call <- environment()
  debug <- check(.Call(wrap__debug_start, c(checks, if (guard_pages) "guard_pages"), once))
  on.exit({
    op_state$findings <- end_debug(debug)
    # The error of `expr` is on its way.
    tell_findings(op_state$findings, if (action == "none") "none" else "warn", call)
  })
  result <- withVisible(expr)
  await_buffers(result$value)
  op_state$findings <- end_debug(debug)
  on.exit()
  tell_findings(op_state$findings, action, call)
  if (result$visible) result$value else invisible(result$value)
}

#' @rdname ffi_debug
#' @export
ffi_findings <- function() {
  if (is.null(op_state$findings)) {
    # None, in the columns that there would be.
    op_state$findings <- end_debug(check(.Call(wrap__debug_start, character(), character())))
  }
  op_state$findings
}

all_checks <- c("bounds", "operands", "unwritten", "repeat", "alignment", "aliasing", "finite")

check_checks <- function(checks, name = "checks", call = rlang::caller_env()) {
  unknown <- if (is.character(checks)) setdiff(checks, all_checks)
  if (!is.character(checks) || length(unknown)) {
    abort(
      sprintf(
        "`%s` must be among %s, not %s", name, toString(dQuote(all_checks, FALSE)),
        if (length(unknown)) dQuote(unknown[[1L]], FALSE) else describe(checks)
      ),
      operand = name, call = call
    )
  }
}

check_once <- function(once, call = rlang::caller_env()) {
  if (!is.character(once)) {
    abort(sprintf("`once` must be names of custom calls, not %s", describe(once)), operand = "once", call = call)
  }
  unknown <- setdiff(once, ffi_targets()$target)
  if (length(unknown)) {
    abort(sprintf("`once`: there is no custom call %s", dQuote(unknown[[1L]], FALSE)),
      code = "NOT_FOUND", operand = "once", call = call, hint = "`ffi_targets()` lists all custom calls."
    )
  }
}

# What runs on has its handlers called behind our back. An error of a program shows when its result is read.
await_buffers <- function(x) {
  if (inherits(x, c("xlaffi_buffer", "xlaffi_sharded"))) {
    tryCatch(await(x), xlaffi_error = identity)
  } else if (is.list(x)) {
    lapply(unclass(x), await_buffers)
  }
  invisible()
}

# Calls that are under way keep what they found until they are through.
end_debug <- function(debug) {
  while (check(.Call(wrap__debug_stop, debug)) > 0L) {
    Sys.sleep(0.01)
  }
  found <- check(.Call(wrap__debug_findings, debug))
  new_findings(found$columns, found$checked)
}

new_findings <- function(columns, checked) {
  columns$index <- unname(columns$index)
  structure(columns,
    class = c("xlaffi_findings", "data.frame"), row.names = seq_along(columns$text), checked = checked
  )
}

tell_findings <- function(findings, action, call) {
  if (!nrow(findings) || action == "none") {
    return(invisible())
  }
  texts <- finding_lines(findings)
  lines <- stats::setNames(sprintf("{texts[[%d]]}", seq_along(texts)), rep("x", length(texts)))
  tell <- if (action == "error") cli::cli_abort else cli::cli_warn
  tell(
    c("{findings_head(findings)}", lines),
    class = if (action == "error") {
      c("xlaffi_error_findings", "xlaffi_error_internal", "xlaffi_error")
    } else {
      "xlaffi_warning_findings"
    },
    findings = findings, code = "INTERNAL", op = findings$target[[1L]], operand = findings$operand[[1L]], call = call
  )
}

findings_head <- function(findings) {
  # A selection of rows has lost the number of calls.
  checked <- attr(findings, "checked")
  of <- if (is.null(checked)) "" else sprintf(" in %s of custom calls", counted(checked, "call"))
  paste0(counted(nrow(findings), "finding"), of, ".")
}

counted <- function(n, what) {
  sprintf("%s %s%s", if (n) format(n, big.mark = ",") else "no", what, if (n == 1) "" else "s")
}

finding_lines <- function(findings) {
  times <- ifelse(findings$calls > 1, sprintf(" (in %s calls)", format(findings$calls, trim = TRUE)), "")
  sprintf("%s (%s): %s%s", findings$target, findings$platform, findings$text, times)
}

#' @export
format.xlaffi_findings <- function(x, ...) {
  # A part of the columns is a data frame like any other.
  if (!all(c("target", "platform", "calls", "text") %in% names(x))) {
    return(NextMethod())
  }
  check_format_dots(...)
  head <- findings_head(x)
  substr(head, 1L, 1L) <- toupper(substr(head, 1L, 1L))
  c(head, if (nrow(x)) paste("*", finding_lines(x)))
}

#' @export
print.xlaffi_findings <- function(x, ...) {
  if (!all(c("target", "platform", "calls", "text") %in% names(x))) {
    return(NextMethod())
  }
  check_print_dots(...)
  writeLines(strwrap(format(x), exdent = 2L))
  invisible(x)
}

# The checks of a session, which an option switches on and off.
debug_option <- function() {
  option <- getOption("xlaffi.debug", tolower(Sys.getenv("XLAFFI_DEBUG")) %in% c("true", "1"))
  if (isTRUE(option)) {
    return(setdiff(all_checks, "finite"))
  }
  if (isFALSE(option) || is.null(option)) {
    return(NULL)
  }
  check_checks(option, "getOption(\"xlaffi.debug\")", call = NULL)
  option
}

follow_debug_option <- function() {
  checks <- tryCatch(debug_option(), xlaffi_error = function(error) {
    options(xlaffi.debug = NULL)
    warning(error)
    NULL
  })
  if (!is.null(op_state$debug)) {
    found <- check(.Call(wrap__debug_findings, op_state$debug$session))
    findings <- new_findings(found$columns, found$checked)
    if (nrow(findings)) {
      op_state$findings <- findings
      tell_findings(findings, "warn", NULL)
    }
    if (!identical(checks, op_state$debug$checks)) {
      .Call(wrap__debug_stop, op_state$debug$session)
      op_state$debug <- NULL
    }
  }
  if (is.null(op_state$debug) && !is.null(checks)) {
    op_state$debug <- list(session = check(.Call(wrap__debug_start, checks, character())), checks = checks)
  }
  TRUE
}
