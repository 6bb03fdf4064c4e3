# Libraries with the stand-ins for anvl and for stablehlo up to 0.3, or 0.4; their names are all that their files
# define, but for the operations' that 0.4 does not export.
local_anvl <- function(stablehlo = "0.3", envir = parent.frame()) {
  libraries <- vapply(c("stablehlo", "anvl"), function(name) {
    file <- test_path("stand-ins", paste0(name, ".R"))
    names <- setdiff(stand_in_names(file), ".onLoad")
    code <- readLines(file)
    if (name == "stablehlo" && stablehlo == "0.4") {
      names <- setdiff(names, xlaffi:::stablehlo_op_names)
      code <- c(code, readLines(test_path("stand-ins", "stablehlo-0.4.R")))
    }
    local_package(name, sprintf('"%s"', names), code, envir = envir)
  }, "")
  sprintf(".libPaths(c(%s, .libPaths()))", toString(sprintf("'%s'", libraries)))
}

stand_in_names <- function(file) {
  defined <- Filter(function(x) is.call(x) && identical(x[[1]], quote(`<-`)) && is.name(x[[2]]), as.list(parse(file)))
  vapply(defined, function(x) as.character(x[[2]]), "")
}

# The functions of anvl and stablehlo that this package calls, as `package::name`
called_of_anvl <- function() {
  namespace <- asNamespace("xlaffi")
  found <- character()
  visit <- function(x) {
    if (is.call(x)) {
      head <- x[[1]]
      if (is.name(head) && as.character(head) %in% c("anvl", "stablehlo") && length(x) == 2L && is.character(x[[2]])) {
        found <<- c(found, paste0(as.character(head), "::", x[[2]]))
      }
      lapply(as.list(x), visit)
    } else if (is.function(x)) {
      visit(body(x))
    }
  }
  for (name in ls(namespace, all.names = TRUE)) {
    value <- get(name, namespace)
    if (is.function(value) && !is.primitive(value)) visit(body(value))
  }
  sort(unique(found), method = "radix")
}

# The arguments of a function with their defaults, as the recorded interfaces have them
arguments_text <- function(f) {
  formals <- as.list(formals(f))
  text <- vapply(formals, function(default) paste(deparse(default, width.cutoff = 500), collapse = " "), "")
  paste0(names(formals), ifelse(nzchar(text), " = ", ""), text, collapse = ", ")
}
