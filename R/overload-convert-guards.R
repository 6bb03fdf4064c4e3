# Functions in traced code that have no overload: which are called as they are, which refuse values, and what they say.

# `base::pmax` and `stats::var` are masks, too.
double_colon <- function(home, operator) {
  force(home)
  found <- if (operator == "::") getExportedValue else function(pkg, name) get(name, asNamespace(pkg), inherits = FALSE)
  function(pkg, name) {
    pkg <- as.character(substitute(pkg))
    name <- as.character(substitute(name))
    value <- found(pkg, name)
    mask <- if (is.function(value)) patch_for(name, value, home)
    if (!is.null(mask)) {
      mask
    } else if (is.function(value) && is_users(value, home, name)) {
      convert_function(value)
    } else {
      value
    }
  }
}

# R's random numbers would be drawn once, while the program is written.
random_functions <- c(
  "rnorm", "runif", "rexp", "rgamma", "rbeta", "rt", "rpois", "rbinom", "rchisq", "rf", "rcauchy", "rgeom", "rhyper",
  "rlogis", "rlnorm", "rmultinom", "rnbinom", "rsignrank", "rweibull", "rwilcox", "r2dtable", "rWishart", "sample",
  "sample.int", "jitter"
)

refusing_random <- function(name) {
  force(name)
  function(...) {
    call <- method_call(name)
    own <- paste0("hlo_", if (name == "sample.int") "sample" else name)
    hint <- if (own %in% getNamespaceExports(topenv())) {
      sprintf("`%s(key, ...)` draws each time, with `key <- hlo_key(seed)`.", own)
    } else {
      "The functions `hlo_r*()` draw each time; or pass the numbers as an argument."
    }
    abort(sprintf("%s() would draw once, while the program is written", name), "UNIMPLEMENTED",
      op = name, hint = hint, call = call
    )
  }
}

# Functions of R that are not in the table of overloads give an error for values, but for those that dispatch on them,
# and those that only hand them on.
is_guarded <- function(name, package, value) {
  known <- guarded[[name]]
  if (is.null(known)) {
    known <- !passes_values(name, package, value)
    guarded[[name]] <- known
  }
  known
}

# What is_guarded() has found out
guarded <- new.env(parent = emptyenv())

passes_values <- function(name, package, value) {
  if (is.primitive(value)) !name %in% guarded_primitives else name %in% handing_on || has_method(name, package)
}

# Those that neither dispatch nor hand on
guarded_primitives <- c(
  ":", ".subset", ".subset2", "attr", "attr<-", "attributes", "attributes<-", "class<-", "oldClass<-", "is.atomic",
  "is.complex", "is.double", "is.integer", "is.logical", "is.recursive", "is.single", "nzchar", "seq_len",
  "storage.mode<-", "unclass", ".C", ".Fortran"
)

handing_on <- c(
  "chooseOpsMethod", "identity", "print", "str", "format", "nrow", "ncol", "NROW", "NCOL", "do.call", "Recall",
  "tryCatch", "try", "suppressWarnings", "suppressMessages", "withCallingHandlers", "eval", "evalq", "local",
  "with", "assign", "delayedAssign", "is.factor", "is.data.frame", "is.primitive", "stop", "warning", "message",
  "signalCondition", "parent.frame", "sys.parent", "sys.frame", "sys.frames", "sys.calls", "sys.nframe", "sys.on.exit",
  "conditionMessage", "conditionCall", "parent.env", "force", "forceAndCall", "Negate", "rapply",
  "environment", "exists", "get", "get0", "sys.call", "sys.function", "match.call", "match.arg", "match.fun", "debug",
  "undebug", "det", "list2env", "new.env", "modifyList", "append", "lapply", "show", "new", "slot", "validObject",
  "callNextMethod", "system.time", "::", ":::", "bquote", "library", "require", "rm", "weighted.mean",
  "is.name", "object.size", "Vectorize", "isVirtualClass", "alist", "as.function", "cbind2", "rbind2"
)

has_method <- function(name, package) {
  table <- get0(".__S3MethodsTable__.", if (package == "base") baseenv() else asNamespace(package))
  any(vapply(paste0(name, c(".xlaffi_value", ".xlaffi_typed")), exists, NA, where = table, inherits = FALSE))
}

conversion_hints <- list(
  which = paste(
    "How many there are is known only when the program runs: `match(TRUE, condition)` is the first one, `ifelse()`",
    "keeps the shape, `sum(x * condition)` leaves elements out, `x[condition] <- 0` replaces them."
  ),
  identical = "`all(x == y)` is a value of the program.",
  isTRUE = "The elements are not known while the program is written.",
  ":" = "How many elements there are must be known while the program is written: `hlo_iota()` counts to a length.",
  seq = "How many elements there are must be known while the program is written: `hlo_iota()` counts to a length.",
  seq_len = "How many elements there are must be known while the program is written: `hlo_iota()` counts to a length."
)
