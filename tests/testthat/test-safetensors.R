# A package with the interface of safetensors that we use: what a file would hold is a list.
local_safetensors <- function(envir = parent.frame()) {
  exports <- c("safe_tensor_buffer", "safe_tensor_meta", "safetensors_frameworks")
  local_package("safetensors", exports, envir = envir, code = "
    safetensors_frameworks <- new.env()
    safe_tensor_buffer <- function(x) UseMethod('safe_tensor_buffer')
    safe_tensor_meta <- function(x) UseMethod('safe_tensor_meta')")
}

test_that("buffers go to safetensors and come back, under both names of the framework", {
  skip_without_plugin()
  run <- run_r(c(use_library(local_safetensors()), "library(safetensors)", "
    dtypes <- c('pred', 'i8', 'i16', 'i32', 'i64', 'ui8', 'ui16', 'ui32', 'ui64', 'f16', 'bf16', 'f32', 'f64', 'c64')
    for (framework in c('xlaffi', 'pjrt')) {
      frame <- safetensors_frameworks[[framework]]
      stopifnot(identical(frame$packages, 'xlaffi'))
      for (dtype in dtypes) for (shape in list(integer(), 3L, 2:3, c(0L, 2L))) {
        x <- pjrt_buffer(seq_len(prod(shape)), 'f32', shape = shape)
        x <- pjrt_buffer(as_array(x), dtype, shape = shape)
        meta <- safe_tensor_meta(x)
        y <- frame$constructor(safe_tensor_buffer(x), meta, device = 'cpu:0')
        stopifnot(identical(as_raw(y, TRUE), as_raw(x, TRUE)), elt_type(y) == dtype, identical(shape(y), shape))
        cat(meta$dtype, length(meta$shape), '')
      }
    }
    cat('\\n')
    try(safe_tensor_meta(pjrt_scalar(1i, 'c128')))
    try(frame$constructor(raw(1), list(shape = list(), dtype = 'F8_E4M3')))
  "))
  expect_identical(run$status, 0L)
  names <- c("BOOL", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "F16", "BF16", "F32", "F64", "C64")
  expect_identical(strsplit(trimws(run$output[[1]]), " ")[[1]], rep(paste(rep(names, each = 4), c(0, 1, 2, 2)), 2) |>
    strsplit(" ") |> unlist())
  text <- paste(trimws(run$output), collapse = " ")
  expect_match(text, "cannot hold the dtype c128")
  expect_match(text, "the file has the dtype \"F8_E4M3\", which no buffer can have")
})

test_that("where pjrt answers for its framework, it keeps it", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r(c(use_library(local_safetensors()), "
    unloadNamespace('xlaffi')
    library(safetensors)
    safetensors_frameworks[['pjrt']] <- 'theirs'
    library(xlaffi)
    cat(safetensors_frameworks[['pjrt']], safetensors_frameworks[['xlaffi']]$packages)
  "))
  expect_identical(run$output, "theirs xlaffi")
})
