# The functions of own-ops.c, compiled once.
own_function <- local({
  library <- NULL
  function(name) {
    if (is.null(library)) {
      include <- system.file("include", package = "xlaffi")
      library <<- dyn.load(kept_library("own-ops.c", include, function(file) {
        compile_library(file, sprintf("PKG_CPPFLAGS = -I\"%s\"", include))
      }))
    }
    getNativeSymbolInfo(name, library)$address
  }
})

own_op <- function(name, signature, body = name, ..., rules = list(), options = list(digest = body),
                   has_side_effect = FALSE) {
  instances <- list(list(dtypes = character(), pointer = own_function(body), ...))
  new_own_op(own_op_new(name, signature, list(), instances, options), rules, has_side_effect)
}

own_times <- function(name = "times", rules = list()) {
  dtypes <- c("f32", "f64", "i32")
  instances <- lapply(dtypes, function(dtype) {
    list(dtypes = dtype, pointer = own_function(paste0("times_", dtype)))
  })
  pointer <- own_op_new(name, "x: T[n], y: T[] -> z: T[n]", list(T = dtypes), instances, list(digest = "times"))
  new_own_op(pointer, rules)
}

# What programs tell an op by.
own_digest <- function(op) xlaffi:::check(.Call(xlaffi:::wrap__own_op_about, attr(op, "op")$own$pointer))$digest
