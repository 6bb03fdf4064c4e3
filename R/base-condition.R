# Every error of this package has the class `xlaffi_error` and `xlaffi_error_<code>` and the
# fields `code` (one of XLA's code names), `op` and `operand` (NULL where unknown).
# `unknown`: R has a result where a program cannot tell it while it is written, as where the code is "UNIMPLEMENTED".
abort <- function(message, code = "INVALID_ARGUMENT", op = NULL, operand = NULL, hint = NULL,
                  call = rlang::caller_env(), parent = NULL, unknown = FALSE) {
  # What fails where these are made is an error of its own.
  force(message)
  force(hint)
  text <- condition_text(message, mark = 2L)
  hints <- if (length(hint)) {
    rlang::new_function(formals(function(cnd, ...) NULL), condition_text(hints = hint), baseenv())
  }
  signalled <- function() {
    rlang::abort(
      text,
      body = hints,
      class = c(paste0("xlaffi_error_", tolower(code)), "xlaffi_error"),
      code = code,
      op = op,
      operand = operand,
      call = hooks$shown_call(call),
      parent = parent,
      trace = hooks$shown_trace(),
      use_cli_format = FALSE
    )
  }
  # A handler of the user's for R's errors would make a result of it.
  if (unknown || identical(code, "UNIMPLEMENTED")) {
    withCallingHandlers(signalled(), error = hooks$not_decided)
  } else {
    signalled()
  }
}

# Raises what the Rust side returned instead of a result.
raise <- function(failure, call = rlang::caller_env()) {
  cause <- hooks$callback_condition(failure$message)
  message <- if (is.null(cause)) failure$message else cause$message
  abort(message, failure$code, failure$op, failure$operand, failure$hint, call = call, parent = cause$parent)
}

# Messages and warnings
inform <- function(text, class = NULL) rlang::inform(condition_text(text), class = class, use_cli_format = FALSE)

warn <- function(text, class = NULL, hints = NULL) {
  rlang::warn(condition_text(text, hints), class = class, use_cli_format = FALSE)
}

# What a condition says: a text and its hints as bullets, each wrapped to the width that cli has for conditions. `mark`
# is how wide the mark is that is shown before the text. cli's own functions for conditions interpret templates and a
# theme for each line, which takes five times as long as all else of an error.
condition_text <- function(text = NULL, hints = NULL, mark = 0L) {
  width <- getOption("cli.condition_width")
  if (is.null(width)) width <- cli::console_width()
  wrapped <- function(lines, width, exdent) {
    cli::ansi_strwrap(gsub("[ \t\r]*\n\\s*", " ", lines), width, exdent = exdent)
  }
  bullet <- if (length(hints)) paste0(cli::col_cyan(cli::symbol$info), " ")
  paste(c(wrapped(text, width - mark, mark), wrapped(paste0(bullet, hints), width, 2L)), collapse = "\n")
}

# Passes a result on, or raises it if it is a failure.
check <- function(result, call = rlang::caller_env()) {
  if (inherits(result, "xlaffi_failure")) {
    raise(result, call)
  }
  result
}

# Whether an argument that was handed on did not come. (missing() alone is also true of one that has its default.)
is_absent <- function(x) {
  missing(x) && tryCatch(
    {
      force(x)
      FALSE
    },
    error = function(e) TRUE
  )
}

refuse_missing <- function(name, call) abort(sprintf("`%s` is missing", name), operand = name, call = call)

check_not_missing <- function(x, name, call) if (is_absent(x)) refuse_missing(name, call)

# Whether the arguments came that a function has no default for: of R's own error the call is that of a function
# within.
check_given <- function(..., call = rlang::caller_env()) {
  frame <- parent.frame()
  for (argument in as.list(substitute(list(...)))[-1L]) {
    if (eval(as.call(list(is_absent, argument)), frame)) refuse_missing(as.character(argument), call)
  }
}

check_string <- function(x, name, call = rlang::caller_env()) {
  check_not_missing(x, name, call)
  if (!is.character(x) || length(x) != 1L || is.na(x) || !nzchar(x)) {
    abort(sprintf("`%s` must be one non-empty string, not %s", name, describe(x)),
      operand = name, call = call
    )
  }
  if (!validEnc(x)) {
    abort(sprintf("`%s` is not valid text in its encoding", name), operand = name, call = call)
  }
}

# The path of a file that is there
check_file <- function(path, name = "path", call = rlang::caller_env()) {
  check_string(path, name, call)
  path <- path.expand(path)
  if (!file.exists(path)) {
    abort(sprintf("there is no file \"%s\"", path), code = "NOT_FOUND", operand = name, call = call)
  }
  if (dir.exists(path)) {
    abort(sprintf("\"%s\" is a folder, not a file", path), operand = name, call = call)
  }
  path
}

# R has a limit on the length of names.
check_name <- function(x, name, call = rlang::caller_env()) {
  check_string(x, name, call)
  if (nchar(x, "bytes") > 255L) {
    abort(sprintf("`%s` is too long for a name: it has %d bytes", name, nchar(x, "bytes")), operand = name, call = call)
  }
}

check_flag <- function(x, name, call = rlang::caller_env()) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort(sprintf("`%s` must be TRUE or FALSE, not %s", name, describe(x)),
      operand = name, call = call
    )
  }
}

# Names, "" where there are none. (rlang has this too, and takes a tenth of a second to load: what runs in every session
# does without.)
names2 <- function(x) {
  names <- names(x)
  if (is.null(names)) character(length(x)) else replace(names, is.na(names), "")
}

# One of several strings; a call that leaves the argument out has them all, the default first.
check_choice <- function(x, name, choices, call = rlang::caller_env()) {
  if (identical(x, choices)) {
    return(choices[[1L]])
  }
  if (!is.character(x) || length(x) != 1L || !x %in% choices) {
    abort(sprintf("`%s` must be one of %s, not %s", name, toString(dQuote(choices, FALSE)), describe(x)),
      operand = name, call = call
    )
  }
  x
}

# A short name for any R object, for error messages.
describe <- function(x) {
  if (is.null(x)) {
    "NULL"
  } else if (is.object(x)) {
    sprintf("an object of class <%s>", class(x)[[1L]])
  } else if (is.atomic(x) && length(x) == 1L) {
    if (is.character(x) && !is.na(x)) dQuote(x, FALSE) else format(x)
  } else if (is.atomic(x)) {
    sprintf("a vector of type %s and length %d", typeof(x), length(x))
  } else {
    sprintf("an object of type %s", typeof(x))
  }
}

# A hint for a name that is not there: the nearest one, or `otherwise` where none is near. Near: two letters or a third
# of them differ, and not more than half.
name_hint <- function(name, known, mark, otherwise = NULL) {
  distance <- drop(utils::adist(name, known, ignore.case = TRUE))
  letters <- pmax(nchar(name), nchar(known))
  i <- which.min(distance)
  near <- length(i) && distance[[i]] <= min(max(2, letters[[i]] %/% 3), letters[[i]] / 2)
  if (near) sprintf("Did you mean %s?", sprintf(mark, known[[i]])) else otherwise
}

# `allowed`: arguments that other functions give without being asked to
check_dots_empty <- function(..., allowed = character(), call = rlang::caller_env()) {
  if (!...length()) {
    return(invisible())
  }
  given <- as.list(substitute(list(...)))[-1L]
  names <- names2(given)
  foreign <- !names %in% allowed
  if (any(foreign)) {
    # An argument without a name is shown as it was written, if that is short.
    shown <- vapply(given, function(code) if (is.symbol(code) || is.atomic(code)) deparse1(code) else "", "")
    shown <- unique(ifelse(nzchar(names), names, shown)[foreign])
    shown <- shown[nzchar(shown) & nchar(shown) < 40L]
    of <- if (is.call(call) && is.symbol(call[[1L]])) sprintf("%s(): ", as.character(call[[1L]])) else ""
    named <- names[foreign & nzchar(names)]
    known <- setdiff(names(formals(sys.function(sys.parent()))), "...")
    abort(
      paste0(of, "unused arguments in `...`", if (length(shown)) paste0(": ", toString(shown))),
      operand = "...", call = call, hint = if (length(named) && length(known)) name_hint(named[[1L]], known, "`%s`")
    )
  }
}

# R gives arguments of these functions to methods of what is an element of a list or a column of a data frame.
check_print_dots <- function(..., allowed = character(), call = rlang::caller_env()) {
  check_dots_empty(..., allowed = c(allowed, names(formals(print.default)), "row.names"), call = call)
}

check_format_dots <- function(..., call = rlang::caller_env()) {
  check_dots_empty(..., allowed = names(formals(format.default)), call = call)
}

check_equal_dots <- function(..., call = rlang::caller_env()) {
  check_dots_empty(..., allowed = c(names(formals(all.equal.numeric)), "use.names"), call = call)
}

check_str_dots <- function(..., call = rlang::caller_env()) {
  known <- names(formals(utils::getS3method("str", "default", envir = asNamespace("utils"))))
  check_dots_empty(..., allowed = c(known, "envir"), call = call)
}

# Which of the arguments that an overload needs are `missing`, by name
check_needed <- function(shown, missing, call) {
  if (any(missing)) {
    name <- names(which(missing))[[1L]]
    abort(sprintf("%s: argument `%s` is missing, with no default", shown, name),
      op = sub("()", "", shown, fixed = TRUE), operand = name, call = call
    )
  }
}

before_dots <- function(formals) formals[cumsum(formals == "...") == 0L]

# The argument that R takes `name` for, which is its beginning; NULL for none
begun_argument <- function(name, arguments) {
  begun <- arguments[startsWith(arguments, name)]
  if (length(begun)) begun[[1L]]
}

# R takes the beginning of a name for an argument that stands before `...`: data `s` for `start`. A function that hands
# `...` on refuses names that are only beginnings, where it would compute with the wrong argument.
check_whole_names <- function(op) {
  formals <- names(formals(sys.function(-1L)))
  call <- sys.call(-1L)
  given <- names2(as.list(call)[-1L])
  if (any(vapply(as.list(call)[-1L], identical, NA, quote(...)))) {
    given <- c(given, eval(quote(...names()), parent.frame(2L)))
  }
  before <- setdiff(before_dots(formals), given)
  for (name in setdiff(given, c("", NA, formals))) {
    taken <- begun_argument(name, before)
    if (!is.null(taken)) {
      abort(sprintf("%s: R takes an argument `%s` for `%s`", op, name, taken),
        op = op, operand = name, call = call,
        hint = "If it is for a function of yours, give it without a name, or another name."
      )
    }
  }
}

start_of <- function(op) if (is.null(op)) "" else paste0(op, ": ")

# A whole number from `least` on. Fractions are cut off as R does in functions of its own, unless it must be `whole`.
check_count <- function(x, name, call, least = 0, whole = FALSE) {
  check_not_missing(x, name, call)
  if (is_value(x)) {
    abort(sprintf("`%s` must be known while the program is written: results have fixed shapes", name),
      operand = name, call = call, unknown = TRUE
    )
  }
  if (!is.numeric(x) || length(x) != 1L || !isTRUE(x >= least) || x > .Machine$integer.max ||
        (whole && x != trunc(x))) {
    abort(sprintf("`%s` must be a whole number from %d on, not %s", name, least, describe(x)),
      operand = name, call = call
    )
  }
  as.integer(x)
}

check_square <- function(x, name, shown, call) {
  if (rank_of(x) != 2L || x@shape[[1L]] != x@shape[[2L]]) {
    abort(sprintf("%s: `%s` must be a square matrix, not %s", shown, name, type_text(x)),
      op = sub("()", "", shown, fixed = TRUE), operand = name, call = call
    )
  }
}

# Whether a function of the user's can be called so: R's own error would show a call that nobody wrote.
check_takes <- function(f, arguments, op, name, call) {
  form <- args(f)
  if (is.null(form)) {
    return(invisible())
  }
  given <- as.call(c(quote(f), rep(list(NULL), length(arguments))))
  names(given) <- c("", names2(arguments))
  matched <- tryCatch(match.call(form, given), error = function(cnd) NULL)
  if (is.null(matched)) {
    named <- names2(arguments)
    known <- toString(named[nzchar(named)])
    among <- if (all(nzchar(named))) "" else "among them "
    abort(
      sprintf(
        "%s: `%s` is called with %d argument%s%s, but it is function(%s)", op, name, length(arguments),
        if (length(arguments) == 1L) "" else "s",
        if (nzchar(known)) sprintf(" (%s%s)", among, known) else "", toString(names(formals(form)))
      ),
      op = op, operand = name, call = call
    )
  }
}

check_function <- function(f, name = "f", call = rlang::caller_env()) {
  check_not_missing(f, name, call)
  if (!is.function(f)) {
    abort(sprintf("`%s` must be a function, not %s", name, describe(f)), operand = name, call = call)
  }
}

# The names of a function's arguments; NULL for operators such as `[`, of which R tells none
formal_names <- function(f) {
  shown <- args(f)
  if (!is.null(shown)) names(formals(shown))
}

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

is_missing_arg <- function(x) missing(x) || (is.symbol(x) && !nzchar(as.character(x)))

# The call of the method that asks: R puts the method's name into it, and for some generics the values themselves.
# To be asked at once: in an argument that is looked at later, another function's call would be the last one.
method_call <- function(generic) {
  call <- sys.call(-1L)
  # These dispatch within their bodies, with the names of their own arguments.
  if (generic %in% c("cbind", "rbind", "as.vector", "unlist", "nchar")) {
    for (frame in seq_len(min(3L, sys.nframe() - 1L))[-1L]) {
      if (identical(sys.function(-frame), get(generic, baseenv()))) call <- sys.call(-frame)
    }
  }
  if (identical(as.list(call)[-1L], list(quote(...)))) call <- call(generic, quote(x), quote(...))
  call[[1L]] <- as.name(generic)
  inlined <- vapply(as.list(call), function(part) inherits(part, c("xlaffi_typed", "xlaffi_buffer")), NA)
  call[inlined] <- rep(list(quote(x)), sum(inlined))
  call
}
