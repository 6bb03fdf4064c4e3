# What stands for R's functions in a patched environment. A patch looks whether an argument is a value and lets R's
# dispatch do the rest, UseMethod(): its methods get the arguments as they came, looked at or not, and the call and the
# frame behind it are those of the user.

r_packages <- c(
  "base", "stats", "utils", "methods", "graphics", "grDevices", "tools", "grid", "parallel", "splines", "stats4",
  "compiler", "tcltk"
)

# Where patches live: UseMethod() looks for methods in the table of the top-level environment round a generic, and what
# has a package name is one.
new_patch_home <- function() {
  home <- new.env(parent = baseenv())
  home[[".packageName"]] <- "xlaffi masks"
  home[[".__S3MethodsTable__."]] <- new.env(parent = emptyenv())
  home[[patched_mark]] <- TRUE
  home
}

# That of masks of R's own functions, which are made when they are needed
patch_home <- function() made_once("masks", new_patch_home)

is_rs_own <- function(f) is.primitive(f) || package_of(f) %in% r_packages

package_of <- function(f) {
  if (is.primitive(f)) {
    return("base")
  }
  env <- environment(f)
  if (isNamespace(env)) getNamespaceName(env)[[1L]] else if (identical(env, baseenv())) "base" else ""
}

# What stands for `value`, which is found under `name`; NULL for what needs nothing.
patch_for <- function(name, value, home) {
  if (name %in% c("::", ":::")) {
    return(if (identical(value, get(name, baseenv()))) double_colon(home, name))
  }
  of_sparse <- matrix_functions[[name]]
  if (!is.null(of_sparse) && is_of_matrix_package(name, value)) {
    return(standard_patch(name, list(f = of_sparse), value))
  }
  entry <- overloads[[name]]
  if (is.null(entry) && is_of_matrix_package(name, value)) {
    package <- if (isS4(value)) attr(value, "package") else "Matrix"
    refused <- list(f = refusing(name, conversion_hints[[name]]), chooses = given_in_lists)
    return(if (is_guarded(name, package, value)) own_patch(name, refused, value))
  }
  if (isS4(value)) {
    # Another package made R's function generic.
    known <- !is.null(entry) && entry$by == "conversion" && identical(attr(value, "package"), entry$package)
    return(if (known) own_patch(name, entry, value))
  }
  package <- package_of(value)
  note_asked(name)
  # R has one function under both names.
  if (name == "as.numeric" && identical(value, base::as.double)) {
    return(patch_for("as.double", value, home))
  }
  if (!package %in% r_packages || !identical(value, get0(name, asNamespace(package), inherits = FALSE))) {
    renamed <- if (package %in% r_packages) patch_of(value, home)
    return(if (!identical(renamed, value)) renamed)
  }
  if (!is.null(entry) && entry$by == "conversion" && entry$package == package) {
    standard_patch(name, entry, value)
  } else if (name %in% summary_members) {
    standard_patch(name, list(f = Summary.xlaffi_value), value)
  } else if (name %in% two_arguments || (!is.null(entry) && entry$by == "method" && entry$package == package)) {
    standard_patch(name, list(f = method_of(name, entry, value), first = TRUE), value)
  } else if (name %in% names(session_reads)) {
    session_reads[[name]]
  } else if (package %in% names(outside_names) && !is.null(outside_functions[[name]])) {
    outside_functions[[name]]
  } else if (name == "with") {
    standard_patch(name, list(f = value), value)
  } else if (name %in% random_functions) {
    refusing_random(name)
  } else if (is_guarded(name, package, value)) {
    standard_patch(name, list(f = refusing(name, conversion_hints[[name]]), guard = TRUE), value)
  }
}

# What stands for a function of R that comes without its name
patch_of <- function(f, home = globalenv(), name = name_in_r(f)) {
  mask <- if (!is.null(name)) patch_for(name, f, home)
  if (is.null(mask)) f else mask
}

# Names of functions by their addresses: to look through a namespace takes milliseconds, and grows with the session.
names_in_r <- session_state("names_in_r")

name_in_r <- function(f) {
  if (is.primitive(f)) {
    return(sub("^[.]Primitive[(]\"(.*)\"[)]$", "\\1", deparse(f)[[1L]]))
  }
  namespace <- environment(f)
  has_it <- function(name) identical(get0(name, namespace, inherits = FALSE), f)
  address <- rlang::obj_address(f)
  name <- names_in_r[[address]]
  # Another function may have that address by now.
  if (is.null(name) || !has_it(name)) {
    name <- Find(has_it, names(namespace))
    if (!is.null(name)) names_in_r[[address]] <- name
  }
  name
}

standard_patch <- function(name, entry, value) {
  if (isTRUE(entry$functional)) {
    return(entry$f)
  }
  home <- patch_home()
  mask <- home[[name]]
  if (is.null(mask)) {
    mask <- new_patch(name, entry, value, home)
  }
  mask
}

own_patch <- function(name, entry, value) {
  if (isTRUE(entry$functional)) {
    return(entry$f)
  }
  new_patch(name, entry, value, new_patch_home())
}

new_patch <- function(name, entry, value, home) {
  chooses <- if (is.null(entry$chooses)) patch_choices[[name]] else entry$chooses
  if (is.null(chooses)) {
    chooses <- if (isTRUE(entry$guard)) guarded_choice(name, value) else given_anywhere
  }
  if (isTRUE(entry$first)) {
    chooses <- if (name %in% converting) by_first_or_elements else by_first
  }
  if (name %in% whole_reads) {
    chooses <- noting_environments(name, chooses)
  }
  mask <- eval(bquote(function(...) UseMethod(.(name), .(chooses)(...)), splice = FALSE), home)
  methods <- home[[".__S3MethodsTable__."]]
  methods[[paste0(name, ".xlaffi_value")]] <- entry$f
  methods[[paste0(name, ".xlaffi_sparse")]] <- sparse_method(name, entry$f)
  methods[[paste0(name, ".R")]] <- if (is.primitive(value)) primitive_method(name, value) else value
  if (name %in% converting) {
    methods[[paste0(name, ".xlaffi_elements")]] <- elements_converted(name, value)
  }
  if (isTRUE(entry$first)) {
    methods[[paste0(name, ".xlaffi_later")]] <- function(x, ...) {
      value(if (is_sparse_matrix(x)) sparse_operand(x) else as_value(x, "x", call = method_call(name)), ...)
    }
  }
  home[[name]] <- mask
  mask
}

# R's function behind a mask; any other function itself
unpatched <- function(f) {
  home <- if (!is.primitive(f)) environment(f)
  is_mask <- is.environment(home) && !is.null(home[[".__S3MethodsTable__."]]) && !is.null(home[[patched_mark]])
  if (is_mask) home[[".__S3MethodsTable__."]][[paste0(body(f)[[2L]], ".R")]] else f
}

# UseMethod() calls closures only. A primitive looks for methods from where it is called, which is to be the user's
# frame.
primitive_method <- function(name, value) {
  ask <- eval(bquote(function(...) .(as.name(name))(...)))
  function(...) {
    frame <- new.env(parent = parent.frame())
    frame[[name]] <- value
    asked <- ask
    environment(asked) <- frame
    asked(...)
  }
}

# What UseMethod() dispatches on.
for_values <- structure(0L, class = "xlaffi_value")

for_r <- structure(0L, class = "R")

for_sparse <- structure(0L, class = "xlaffi_sparse")

for_later <- structure(0L, class = "xlaffi_later")

for_elements <- structure(0L, class = "xlaffi_elements")

dispatched <- function(on_value) if (on_value) for_values else for_r

given_anywhere <- function(...) {
  found <- for_r
  parts <- given_arguments(...)
  for (part in parts) {
    if (is_sparse(part)) {
      return(for_sparse)
    }
    if (is_value(part) || (is_branch(part) && any(vapply(part, is_value, NA)))) found <- for_values
  }
  if (identical(found, for_values) && any(vapply(parts, is_sparse_matrix, NA))) for_sparse else found
}

directly_given <- function(...) {
  for (part in given_arguments(...)) {
    if (is_sparse(part)) {
      return(for_sparse)
    }
    if (is_value(part) || (inherits(part, "formula") && is_of_values(part))) {
      return(for_values)
    }
  }
  for_r
}

# Generics of R's that have no meaning for values go on to what the user wrote for objects of his own.
guarded_choice <- function(name, value) {
  if (is.primitive(value) || !"UseMethod" %in% all.names(body(value))) {
    return(directly_given)
  }
  function(...) {
    if (has_users_method(name, given_arguments(...), parent.frame(2L))) for_r else directly_given(...)
  }
}

has_users_method <- function(generic, arguments, caller) {
  if (!length(arguments) || !is.object(arguments[[1L]]) || is_value(arguments[[1L]])) {
    return(FALSE)
  }
  methods <- lapply(paste0(generic, ".", class(arguments[[1L]])), get0, envir = caller, mode = "function")
  any(vapply(methods, function(method) !is.null(method) && !package_of(method) %in% r_packages, NA))
}

# What R dispatches by the first argument: R's data there become a value where another argument is one.
by_first <- function(x, ...) {
  if (missing(x) || is_value(x)) {
    return(for_values)
  }
  if (is_sparse(x)) {
    return(for_sparse)
  }
  for (part in given_arguments(...)) {
    if (is_value(part)) {
      return(for_later)
    }
  }
  for_r
}

# Of a list with values R's code would take the objects.
by_first_or_elements <- function(x, ...) {
  if (!missing(x) && is_branch(x) && has_values(x)) for_elements else by_first(x, ...)
}

summary_members <- c("max", "min", "range", "sum", "prod", "any", "all")

two_arguments <- c("log", "round", "signif")

# What stands for R's function if the first argument is a value: for closures themselves, so that calls are as they were
method_of <- function(name, entry, value) {
  if (!is.primitive(value)) value else if (name %in% two_arguments) Math.xlaffi_value else entry$f
}

is_of_values <- function(formula) {
  variables <- mget(all.vars(formula), environment(formula), inherits = TRUE, ifnotfound = list(NULL))
  any(vapply(variables, is_value, NA))
}

# Without those left empty, as in `x[, 1]`
given_arguments <- function(...) {
  empty <- vapply(as.list(substitute(list(...)))[-1L], is_missing_arg, NA)
  if (any(empty)) lapply(which(!empty), function(i) ...elt(i)) else list(...)
}

# Masks that must not look at every argument
patch_choices <- list(
  with = with_choice,
  # R looks at `yes` and `no` only where it takes something from them.
  ifelse = function(test, yes, no) {
    if (is_value(test)) {
      return(for_values)
    }
    dispatched((any(test, na.rm = TRUE) && is_value(yes)) || (!all(test, na.rm = TRUE) && is_value(no)))
  }
)

# Functions of matrices take these, and their parts, in lists too.
given_in_lists <- function(...) {
  parts <- given_arguments(...)
  if (has_sparse(parts)) for_sparse else dispatched(has_leaf_values(parts))
}
patch_choices[c("bdiag", ".bdiag")] <- list(given_in_lists)

# What goes into lists of lists, of any class that has no method of the user's
patch_choices$unlist <- function(x, ...) {
  of_user <- is.object(x) && has_users_method("unlist", list(x), parent.frame(2L))
  if (is_sparse(x)) for_sparse else dispatched(!of_user && has_leaf_values(x))
}
patch_choices$c <- function(..., recursive = FALSE) {
  found <- given_anywhere(...)
  deep <- isTRUE(recursive) && identical(found, for_r)
  if (deep) dispatched(has_leaf_values(given_arguments(...))) else found
}

# Lists that hold values in the same places are the same where these are, or it is not known.
patch_choices$identical <- function(x, y, ...) {
  if (is_value(x) || is_value(y) || !is_branch(x) || !is_branch(y)) {
    return(directly_given(x, y))
  }
  alike <- identical(without_values(x), without_values(y))
  dispatched(has_leaf_values(x) && alike && !identical(x, y, ...))
}

# A list with a name in place of the values in it
without_values <- function(x) {
  if (is_branch(x)) lapply(x, without_values) else if (has_leaf_values(x)) quote(value) else x
}

# What takes other arguments as code: looked at here, they would be computed where their names mean something else.
first_choice <- function(...) if (...length()) dispatched(is_value(...elt(1L))) else for_r
patch_choices[c("within", "subset", "transform")] <- list(first_choice)
patch_choices[c("lm", "glm", "nls", "aov", "model.frame", "xtabs")] <- list(function(formula, data, ...) {
  if (missing(formula)) for_r else if (missing(data)) directly_given(formula) else directly_given(formula, data)
})

# Objects have methods that may take their indices unevaluated.
index_choice <- function(x, ...) {
  if (is.environment(x) && ...length() && is.character(..1)) note_names(..1, x, inherits = FALSE)
  if (is_value(x)) {
    for_values
  } else if (is_sparse(x)) {
    for_sparse
  } else if (is.object(x) && !is_sparse_matrix(x)) {
    for_r
  } else {
    given_anywhere(x, ...)
  }
}
patch_choices[c("[", "[[", "[<-", "[[<-")] <- list(index_choice)
