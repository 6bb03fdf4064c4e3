# What stablehlo 0.4.0 does otherwise than the stand-in of stablehlo.R: a function has a queue of operations, each of
# them a function that writes its lines and what that is called with. It exports no classes of operations.
new_func <- function() {
  items <- list()
  func <- structure(new.env(), class = "Func")
  func$inputs <- list()
  func$buf <- list(add = function(item) items <<- c(items, list(item)), as_list = function() items)
  state$func <- func
}

keep_op <- function(func, op) func$buf$add(list(repr, op))

func_lines <- function(func) vapply(func$buf$as_list(), function(item) item[[1L]](item[[2L]]), "")
