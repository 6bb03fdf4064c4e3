# Neither arrow nor nanoarrow need be here: these are their interfaces as far as we use them.
local_arrow <- function(envir = parent.frame()) {
  local_package("arrow", "as_record_batch_reader", envir = envir, code = "
    reader <- function(batches) {
      at <- 0
      next_batch <- function() {
        at <<- at + 1
        if (at <= length(batches)) batches[[at]]
      }
      structure(list(read_next_batch = next_batch), class = c('RecordBatchReader', 'ArrowObject'))
    }
    as_record_batch_reader <- function(x) reader(x$batches)")
}

local_nanoarrow <- function(envir = parent.frame()) {
  local_package("nanoarrow", "convert_array", envir = envir, code = "
    convert_array <- function(array) {
      if (is.null(array$lossy)) return(array$data)
      condition <- structure(
        class = c('nanoarrow_warning_lossy_conversion', 'warning', 'condition'),
        list(message = '1 value may have incurred loss of precision in conversion to double()', call = NULL)
      )
      warning(condition)
      array$data
    }")
}

test_that("record batches of arrow and nanoarrow are parts", {
  skip_without_plugin()
  run <- run_r(c(use_library(local_arrow()), use_library(local_nanoarrow()), "
    frames <- list(data.frame(a = c(1, 2), b = 3:4), data.frame(a = 5, b = 6L))
    table <- structure(list(batches = frames), class = c('Table', 'ArrowObject'))
    as_array(pjrt_buffer_from(table, 'f64'))
    as_array(pjrt_buffer_from(arrow::as_record_batch_reader(table), 'f32', c(3, 2)))
    stream <- function(batches) {
      at <- 0
      next_batch <- function() {
        at <<- at + 1
        if (at <= length(batches)) structure(batches[[at]], class = 'nanoarrow_array')
      }
      structure(list(get_next = next_batch), class = 'nanoarrow_array_stream')
    }
    as_array(pjrt_buffer_from(stream(list(list(data = frames[[1]]), list(data = frames[[2]]))), 'f64'))
    as_array(pjrt_buffer_from(stream(list(list(data = 1:2), list(data = 3L)))))
    met <- tryCatch(pjrt_buffer_from(stream(list(list(data = 2^60, lossy = TRUE))), 'i64'), error = identity)
    class(met)[[1]]
    cat(conditionMessage(met))
  "))
  matrix <- c("     [,1] [,2]", "[1,]    1    3", "[2,]    2    4", "[3,]    5    6")
  expect_identical(run$output[1:14], c(matrix, matrix, matrix, "[1] 1 2 3", "[1] \"xlaffi_error_out_of_range\""))
  expect_match(paste(run$output[-(1:14)], collapse = " "), "would not hold exactly.*loss of precision")
})
