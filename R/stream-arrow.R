# Record batches of the packages nanoarrow and arrow, neither of which need be there. A Parquet file is a
# dataset of arrow's.

arrow_classes <- c("RecordBatchReader", "RecordBatch", "Table", "Dataset", "Scanner", "arrow_dplyr_query")

is_arrow <- function(x) inherits(x, c("nanoarrow_array_stream", arrow_classes))

# A function that gives the next record batch as a data frame (a vector where batches have no columns), NULL
# at the end.
arrow_parts <- function(stream, call) {
  if (inherits(stream, "nanoarrow_array_stream")) {
    return(function() {
      batch <- stream$get_next()
      if (!is.null(batch)) exact_batch(batch, call)
    })
  }
  reader <- if (inherits(stream, "RecordBatchReader")) {
    stream
  } else {
    getExportedValue("arrow", "as_record_batch_reader")(stream)
  }
  function() {
    batch <- reader$read_next_batch()
    if (!is.null(batch)) as.data.frame(batch)
  }
}

# nanoarrow makes doubles of 64-bit integers, and warns where digits are lost.
exact_batch <- function(batch, call) {
  withCallingHandlers(
    getExportedValue("nanoarrow", "convert_array")(batch),
    nanoarrow_warning_lossy_conversion = function(warning) {
      abort(sprintf("a record batch has numbers that R would not hold exactly: %s", conditionMessage(warning)),
        code = "OUT_OF_RANGE", operand = "chunks", call = call,
        hint = "A stream of the package arrow keeps 64-bit integers."
      )
    }
  )
}
