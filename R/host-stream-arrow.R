# Record batches of the packages nanoarrow and arrow, neither of which need be there. A Parquet file is a
# dataset of arrow's.

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
    if (is.null(batch)) {
      return(NULL)
    }
    types <- vapply(batch$schema$fields, function(field) field$type$ToString(), "")
    if ("halffloat" %in% types) {
      abort("arrow gives the bits of numbers of type halffloat, and not the numbers", "UNIMPLEMENTED",
        operand = "chunks", call = call, hint = "Cast them to float32, or use a stream of the package nanoarrow."
      )
    }
    refuse_rounded(as.data.frame(batch), types == "uint64", call)
  }
}

# Of 64-bit integers R has those with a sign; of the others nanoarrow makes doubles.
exact_batch <- function(batch, call) {
  nanoarrow <- function(name) getExportedValue("nanoarrow", name)
  schema <- nanoarrow("infer_nanoarrow_schema")(batch)
  kind <- nanoarrow("infer_nanoarrow_ptype")(schema)
  of_columns <- is.data.frame(kind)
  formats <- if (of_columns) vapply(schema$children, function(one) one$format, "") else schema$format
  if (!of_columns && formats == "l") {
    kind <- bit64::integer64()
  } else if (of_columns) {
    kind[formats == "l"] <- list(bit64::integer64())
  }
  converted <- withCallingHandlers(
    nanoarrow("convert_array")(batch, kind),
    nanoarrow_warning_lossy_conversion = function(warning) refuse_lossy(conditionMessage(warning), call)
  )
  refuse_rounded(converted, formats == "L", call)
}

# Doubles that were made of 64-bit integers are these up to 2^53.
refuse_rounded <- function(part, unsigned, call) {
  columns <- if (is.data.frame(part)) part[unsigned] else list(part)[unsigned]
  if (any(vapply(columns, function(column) any(column >= 2^53, na.rm = TRUE), NA))) {
    refuse_lossy("an integer without a sign is 2^53 or more", call)
  }
  part
}

refuse_lossy <- function(why, call) {
  abort(sprintf("a record batch has numbers that R would not hold exactly: %s", why),
    code = "OUT_OF_RANGE", operand = "chunks", call = call
  )
}
