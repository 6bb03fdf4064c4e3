# Names of the elements of a nested list of arrays, as posterior and Stan have them: "mu", "u[1]", "L[2,1]", and
# "a.b[1]" for parts of parts. Where elements have names, these are their positions; those of a vector that is not in a
# list are the names themselves.
variable_names <- function(template, name = "par") {
  if (is_branch(template)) {
    return(make.unique(as.character(unlist(branch_names(template, NULL))), sep = "_"))
  }
  if (is.null(dim(template)) && !is.null(names(template))) {
    return(make.unique(names(template), sep = "_"))
  }
  element_names(template, name)
}

branch_names <- function(x, path) {
  if (!is_branch(x)) {
    return(element_names(x, path))
  }
  own <- names2(x)
  own[!nzchar(own)] <- seq_along(x)[!nzchar(own)]
  unname(Map(function(part, name) branch_names(part, paste(c(path, name), collapse = ".")), x, own))
}

element_names <- function(x, name) {
  shape <- dim(x)
  if (is.null(shape)) {
    if (length(x) == 1L) {
      return(name)
    }
    at <- if (is.null(names(x))) as.character(seq_along(x)) else names(x)
    return(sprintf("%s[%s]", rep(name, length(x)), at))
  }
  names <- dimnames(x)
  places <- lapply(seq_along(shape), function(k) {
    own <- names[[k]]
    if (is.null(own)) as.character(seq_len(shape[[k]])) else own
  })
  at <- do.call(paste, c(unname(as.list(expand.grid(places, stringsAsFactors = FALSE))), sep = ","))
  sprintf("%s[%s]", rep(name, length(x)), at)
}
