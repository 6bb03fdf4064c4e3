# Files in the format safetensors, through the package safetensors: `safe_save_file()` takes
# buffers, and `safe_load_file(framework = "xlaffi")` gives them. As long as pjrt is not there,
# its name of a framework means us too.

safetensors_dtypes <- c(
  pred = "BOOL", i8 = "I8", i16 = "I16", i32 = "I32", i64 = "I64", ui8 = "U8", ui16 = "U16",
  ui32 = "U32", ui64 = "U64", f16 = "F16", bf16 = "BF16", f32 = "F32", f64 = "F64", c64 = "C64"
)

register_safetensors <- function(...) {
  register_methods("safetensors", list(
    safe_tensor_buffer = list(xlaffi_buffer = function(x) as_raw(x, row_major = TRUE)),
    safe_tensor_meta = list(xlaffi_buffer = safetensors_meta)
  ))
  frameworks <- getExportedValue("safetensors", "safetensors_frameworks")
  ours <- list(constructor = buffer_from_safetensors, packages = "xlaffi")
  frameworks[["xlaffi"]] <- ours
  if (is.null(frameworks[["pjrt"]])) {
    frameworks[["pjrt"]] <- ours
  }
}

# A list of dimensions, so that one dimension stays an array in the file's header.
safetensors_meta <- function(x) {
  info <- buffer_info(x)
  dtype <- safetensors_dtypes[info$dtype]
  if (is.na(dtype)) {
    abort(sprintf("safetensors files cannot hold the dtype %s", info$dtype), operand = "x")
  }
  list(shape = as.list(info$shape), dtype = unname(dtype))
}

buffer_from_safetensors <- function(raw, meta, device = NULL) {
  dtype <- names(safetensors_dtypes)[match(meta$dtype, safetensors_dtypes)]
  if (is.na(dtype)) {
    abort(sprintf("the file has the dtype %s, which no buffer can have", describe(meta$dtype)),
      code = "UNIMPLEMENTED", operand = "dtype"
    )
  }
  pjrt_buffer(raw, dtype, as_pjrt_device(device), shape = as.numeric(unlist(meta$shape)), row_major = TRUE)
}
