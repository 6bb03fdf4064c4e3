# Errors while a function of the user's is traced: they name the user's line, and what R shows of the way there is the
# user's code. `rlang::last_trace(drop = FALSE)` has the rest.

# A call as it was written, with the line of the user's that led to it.
placed <- function(call) {
  if (!is.call(call)) {
    return(call)
  }
  call <- as_written(call)
  if (is.null(attr(call, "srcref"))) {
    # Only code of users has been kept as text.
    lines <- Filter(Negate(is.null), lapply(sys.calls(), attr, "srcref"))
    if (length(lines)) attr(call, "srcref") <- lines[[length(lines)]]
  }
  call
}

# The way to an error, in which the frames of this package are not shown but for the functions that the user called.
users_trace <- function(bottom) {
  trace <- rlang::trace_back(bottom = bottom)
  own <- trace$namespace %in% "xlaffi"
  of_user <- is.na(trace$namespace)
  called_by_user <- c(TRUE, of_user)[trace$parent + 1L]
  named <- vapply(trace$call, function(call) is.call(call) && is.symbol(call[[1L]]) && call[[1L]] != "<fn>", NA)
  hidden <- own & !(trace$scope %in% "::" | (trace$scope %in% "local" & called_by_user & named))
  for (i in seq_along(hidden)) {
    from <- trace$parent[[i]]
    hidden[[i]] <- hidden[[i]] || (!of_user[[i]] && from > 0L && hidden[[from]])
  }
  trace$visible <- trace$visible & !hidden
  trace
}

# Errors of R's in traced code, with the calls that the user wrote
with_written_calls <- function(code) {
  withCallingHandlers(code, warning = refuse_other_methods, error = function(e) {
    call <- conditionCall(e)
    # Where Matrix has no method, its error names no class but "<S4>".
    if (!inherits(e, "rlang_error") && grepl("xlaffi_value|<S4>", conditionMessage(e))) {
      refuse_other_object(e)
    }
    if (!inherits(e, "rlang_error") && grepl("not interpretable as logical", conditionMessage(e), fixed = TRUE)) {
      refuse_condition_elsewhere(e)
    }
    if (is.call(call) && !inherits(e, "rlang_error")) {
      e$call <- as_written(without_patch(call))
      if (!identical(e$call, call)) stop(e)
    }
  })
}

# `if` and the like in code of packages, which is not traced
refuse_condition_elsewhere <- function(condition) {
  abort(
    paste(
      "a function of a package that is called here decides by a value of the program, whose elements are not known",
      "while it is written"
    ),
    "UNIMPLEMENTED", call = conditionCall(condition), parent = condition, hint = paste(
      "A copy of the function without the decision (`ifelse()`, `hlo_cond()`) can be traced; `ffi_callback()` calls it",
      "as it is."
    )
  )
}

# R warns where the operands of an operator have methods that differ, and goes on without them.
refuse_other_methods <- function(w) {
  if (grepl("Ops.xlaffi_value", conditionMessage(w), fixed = TRUE)) {
    refuse_other_object(w)
  }
}

# What another package's methods, or R's, say of values
refuse_other_object <- function(condition) {
  sparse <- grepl("<[dln][gst][CRT]Matrix>", conditionMessage(condition))
  abort(sprintf("a value of the program meets an object of another class: %s", conditionMessage(condition)),
    hint = if (sparse) {
      "`hlo_sparse(x)` makes a sparse matrix of the program, `as.matrix(x)` gives all elements."
    } else {
      "`unclass()`, `as.numeric()` and `as.matrix()` take the numbers out of objects."
    },
    call = conditionCall(condition)
  )
}

# UseMethod() puts a method's name into the call.
without_patch <- function(call) {
  name <- if (is.symbol(call[[1L]])) sub("[.]R$", "", as.character(call[[1L]])) else ""
  if (nzchar(name) && exists(name, envir = patch_home(), inherits = FALSE)) call[[1L]] <- as.name(name)
  call
}

hooks$shown_call <- function(call) if (is_tracing()) placed(call) else call

# {rlang} 1.0 makes no trace of calls that hold a function's definition without the place of its source, as code that
# was put together may. That error would take the place of ours: it is shown without a trace then.
hooks$shown_trace <- function() {
  bottom <- parent.frame()
  tryCatch(
    if (is_tracing()) {
      users_trace(bottom)
    } else {
      rlang::trace_back(bottom = bottom)
      NULL
    },
    error = function(condition) rlang::trace_back(bottom = globalenv())
  )
}

hooks$with_written_calls <- with_written_calls
