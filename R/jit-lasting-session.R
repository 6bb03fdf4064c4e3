# What of R, of this package and of the session a trace may depend on besides the function itself.

# `code` is this package's R code as it was loaded.
lasting_state <- session_state("lasting_state", code = NULL)

note_code <- function() {
  file <- system.file("R", "xlaffi.rdb", package = "xlaffi")
  lasting_state$code <- if (nzchar(file)) file_stamp(file)
}

# The digest of a function of this package's own, which `about` tells from others; NULL where the package may change in
# the session.
own_digest <- function(about) {
  if (!is.null(lasting_state$code)) {
    digest_of(serialize(c(about, traced_by_build()), NULL, version = 2L))
  }
}

traced_by_build <- function() {
  list(R.version.string, R.version$platform, saved_state$library_stamp, lasting_state$code)
}

# Packages and their builds. Methods that the user defines for others' functions are not followed.
traced_by <- function() {
  # A package that is loaded from its sources has no such file, and may change in the session.
  if (is.null(lasting_state$code) || defines_methods()) uncertain()
  c(traced_by_build(), list(matrix_build(), settings()))
}

# What base functions look at, however they are called
settings <- function() {
  variables <- Sys.getenv()
  variables <- variables[grepl("^(XLA|PJRT|JAX|R_|LC_|LANG|TZ)", names(variables))]
  variables <- variables[!names(variables) %in% c("R_SESSION_TMPDIR", "XLAFFI_PROGRAM_CACHE", "XLAFFI_CODE_CACHE")]
  options <- lapply(options(), function(x) {
    if (typeof(x) == "closure") list(formals(x), body(x)) else if (is.atomic(x)) x else typeof(x)
  })
  facts <- list(
    search = search(), variables = c(unclass(variables)), names = names(variables), locale = Sys.getlocale(),
    options = options
  )
  digest_of(serialize(facts, NULL, version = 2L, refhook = function(env) "reference"))
}

matrix_build <- function() {
  file <- system.file("R", "Matrix.rdb", package = "Matrix")
  if (nzchar(file)) {
    loaded <- isNamespaceLoaded("Matrix")
    version <- if (loaded) getNamespaceVersion("Matrix") else utils::packageDescription("Matrix")$Version
    c(unname(version), file_stamp(file))
  }
}

# Classes and methods of S4 in the session, and methods of S3 that code of the user's has registered
defines_methods <- function() {
  if (any(grepl("^[.]__[CT]__", ls(globalenv(), all.names = TRUE, sorted = FALSE)))) {
    return(TRUE)
  }
  tables <- lapply(intersect(loadedNamespaces(), certain_packages), function(name) {
    asNamespace(name)[[".__S3MethodsTable__."]]
  })
  # What packages register are promises, which are as quick to see as they are slow to look behind.
  promised <- function(table) {
    names <- lapply(ls(table, all.names = TRUE, sorted = FALSE), as.name)
    as.list(do.call(substitute, list(as.call(c(as.name("list"), names)), table)))[-1L]
  }
  methods <- unlist(lapply(Filter(length, tables), promised))
  any(vapply(methods, function(f) typeof(f) == "closure" && !in_package(topenv(environment(f))), NA))
}
