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
  exports <- c("convert_array", "infer_nanoarrow_schema", "infer_nanoarrow_ptype")
  local_package("nanoarrow", exports, envir = envir, code = "
    format_of <- function(x) {
      if (inherits(x, 'integer64')) 'l' else if (inherits(x, 'unsigned')) 'L' else 'g'
    }
    infer_nanoarrow_schema <- function(array) {
      if (!is.data.frame(array$data)) return(list(format = format_of(array$data)))
      list(format = '+s', children = lapply(array$data, function(x) list(format = format_of(x))))
    }
    infer_nanoarrow_ptype <- function(schema) {
      if (is.null(schema$children)) double() else as.data.frame(lapply(schema$children, function(child) double()))
    }
    # Doubles lose digits without a warning where they become 2^53.
    converted <- function(x, to) {
      if (inherits(x, 'unsigned') || inherits(x, 'integer64') && !inherits(to, 'integer64')) as.double(x) else x
    }
    convert_array <- function(array, to) {
      if (is.data.frame(array$data)) return(as.data.frame(Map(converted, array$data, to)))
      if (is.null(array$lossy)) return(converted(array$data, to))
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

test_that("no digits of 64-bit integers are lost, and no bits are taken for numbers", {
  skip_without_plugin()
  skip_unless_all()
  run <- run_r(c(use_library(local_arrow()), use_library(local_nanoarrow()), "
    once <- function(data) {
      parts <- list(structure(list(data = data), class = 'nanoarrow_array'), NULL)
      at <- 0
      structure(list(get_next = function() parts[[at <<- at + 1]]), class = 'nanoarrow_array_stream')
    }
    odd <- bit64::as.integer64('9007199254740993')
    as_array(pjrt_buffer_from(once(odd), 'i64'))
    as_array(pjrt_buffer_from(once(data.frame(a = odd, b = 1L)), 'i64'))
    as.data.frame.RecordBatch <- function(x, ...) x$frame
    batch <- function(type, value) {
      field <- list(type = list(ToString = function() type))
      structure(list(schema = list(fields = list(field)), frame = data.frame(a = value)), class = 'RecordBatch')
    }
    from_arrow <- function(type, value) {
      pjrt_buffer_from(structure(list(batches = list(batch(type, value))), class = c('Table', 'ArrowObject')), 'f64')
    }
    as_array(from_arrow('uint64', 2^53 - 1))
    unsigned <- structure(2^53, class = 'unsigned')
    told <- function(e) cat(class(e)[[1]], conditionMessage(e), fill = 1000)
    tryCatch(pjrt_buffer_from(once(unsigned), 'f64'), error = told)
    tryCatch(from_arrow('uint64', 2^53), error = told)
    tryCatch(from_arrow('halffloat', 15872L), error = told)
  "), env = c(COLUMNS = "1000"))
  expect_snapshot(writeLines(run$output))
  expect_identical(run$status, 0L)
})
