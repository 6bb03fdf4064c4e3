# Parts from the real packages arrow and nanoarrow, for which tests have stand-ins: see tools/places.sh.
library(xlaffi)
suppressPackageStartupMessages(library(arrow))
library(nanoarrow)

values <- function(chunks, ...) as_array(pjrt_buffer_from(chunks, ...))
refused <- function(chunks, ..., why, convert = pjrt_buffer_from) {
  met <- tryCatch(convert(chunks, ...), error = identity)
  stopifnot(inherits(met, paste0("xlaffi_error_", why)))
}
plain <- function(frame) unname(as.matrix(frame))

# Parquet, by row groups
file <- tempfile(fileext = ".parquet")
frame <- data.frame(x = sin(1:250000), y = cos(1:250000))
write_parquet(frame, file, chunk_size = 30000)
for (source in list(
  open_dataset(file), read_parquet(file, as_data_frame = FALSE), as_record_batch_reader(open_dataset(file)),
  Scanner$create(open_dataset(file)), as_nanoarrow_array_stream(open_dataset(file))
)) {
  stopifnot(identical(values(source, "f64"), plain(frame)))
}
stopifnot(identical(values(open_dataset(file), "f64", dim(frame)), plain(frame)))

# 64-bit integers
odd <- bit64::as.integer64(c("9007199254740993", "-9007199254740993", NA))
for (source in list(arrow_table(a = odd), as_nanoarrow_array_stream(data.frame(a = odd)))) {
  stopifnot(identical(as.character(values(source, "i64", check = FALSE)[1:2, 1]), as.character(odd[1:2])))
}
found <- values(basic_array_stream(list(as_nanoarrow_array(odd[1:2]))), "i64")
stopifnot(identical(as.character(found), as.character(odd[1:2])))
unsigned <- Array$create(c("9007199254740993", "5"))$cast(uint64())
refused(arrow_table(a = unsigned), "f64", why = "out_of_range")
refused(as_nanoarrow_array_stream(arrow_table(a = unsigned)), "f64", why = "out_of_range")
stopifnot(values(arrow_table(a = unsigned$Slice(1L)), "ui64") == 5)

# Half floats
half <- arrow_table(a = Array$create(c(1.5, 2.5))$cast(float16()))
refused(half, "f16", why = "unimplemented")
stopifnot(identical(values(as_nanoarrow_array_stream(half), "f16"), cbind(c(1.5, 2.5))))

# Small types, logical values, NULL, parts of several lengths
stopifnot(
  identical(
    values(arrow_table(a = Array$create(1:3)$cast(uint8()), b = c(TRUE, FALSE, TRUE)), "i32"),
    cbind(1:3, c(1L, 0L, 1L))
  ),
  identical(as.vector(values(basic_array_stream(list(as_nanoarrow_array(1:3), as_nanoarrow_array(4:5))))), 1:5)
)
refused(arrow_table(a = c("u", "v")), why = "invalid_argument")
refused(arrow_table(a = as.POSIXct(c(1, 2))), why = "invalid_argument")
refused(arrow_table(a = factor(c("u", "v"))), why = "invalid_argument")

# As arguments they are refused, and what the error names makes numbers of R's.
frame <- data.frame(a = c(10, 20), b = c(30, 40))
objects <- list(
  list(as_nanoarrow_array(c(10, 20)), c(10, 20)), list(as_nanoarrow_vctr(as_nanoarrow_array(c(10, 20))), c(10, 20)),
  list(as_nanoarrow_buffer(c(10, 20)), c(10, 20)), list(as_nanoarrow_array_stream(frame), plain(frame)),
  list(Array$create(c(10, 20)), c(10, 20)), list(ChunkedArray$create(c(10, 20)), c(10, 20)),
  list(Scalar$create(10), 10), list(arrow_table(frame), plain(frame)), list(record_batch(frame), plain(frame)),
  list(as_record_batch_reader(arrow_table(frame)), plain(frame))
)
for (object in objects) {
  x <- object[[1L]]
  # Beside a value arrow's own operators answer.
  refused(x, why = "invalid_argument", convert = function(x) xla_jit(function(y) y + x)(1))
  for (convert in list(xla_jit(function(x) x), xla_lu, pjrt_buffer)) {
    met <- tryCatch(convert(x), error = identity)
    stopifnot(inherits(met, "xlaffi_error_invalid_argument"))
    message <- gsub("\n *", " ", conditionMessage(met))
    quoted <- regmatches(message, gregexpr("(?<=`)[^`]+(?=`)", message, perl = TRUE))[[1L]]
    code <- grep("(x", quoted, fixed = TRUE, value = TRUE)
  }
  dtype <- "f64"
  made <- eval(str2lang(code))
  stopifnot(identical(if (inherits(made, "xlaffi_buffer")) as_array(made) else made, object[[2L]]))
}
version <- function(name) paste(name, format(packageVersion(name)))
cat(version("arrow"), ", ", version("nanoarrow"), ": passed\n", sep = "")
