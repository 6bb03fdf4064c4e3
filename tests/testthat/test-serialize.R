# Takes the memory of its first argument, has a result of its own name, and calls a handler.
donating <- "module @donates { func.func @main(%x: tensor<4x4xf64> {tf.aliasing_output = 0 : i32}, %y: tensor<4x4xf64>)
    -> (tensor<4x4xf64>, tensor<f64>) {
  %lu, %pivots = stablehlo.custom_call @lu(%y) {api_version = 4 : i32, backend_config = {},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]
  } : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xi32>)
  %0 = stablehlo.add %x, %lu : tensor<4x4xf64>
  %1 = stablehlo.constant dense<0.0> : tensor<f64>
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0, 1] :
    (tensor<4x4xf64>, tensor<f64>) -> tensor<f64>
  return %0, %2 : tensor<4x4xf64>, tensor<f64>
} }"
a_matrix <- matrix(c(4, 1, 2, 7, 3, 9, 1, 1, 5, 6, 2, 8, 1, 0, 3, 2), 4)

bytes_of <- function(exec) pjrt_serialize(exec)
# With another line in place of the one that begins like it, and a digest that fits.
forged <- function(bytes, line) {
  end <- which(bytes == as.raw(10L))
  end <- end[diff(end) == 1L][[1L]]
  lines <- strsplit(rawToChar(bytes[seq_len(end)]), "\n", fixed = TRUE)[[1L]]
  lines[startsWith(lines, sub(" .*", " ", line)) & seq_along(lines) > 1L] <- line
  body <- bytes[-seq_len(end + 1L)]
  head <- charToRaw(paste0(lines[-length(lines)], "\n", collapse = ""))
  c(head, charToRaw(sprintf("sha256 %s\n\n", cli::hash_raw_sha256(c(head, body)))), body)
}
# The processor and versions are those of the machine.
general <- function(lines) {
  lines <- gsub("than is here *(\\n *)?\\(.*?\\)+$", "than is here (...)", lines)
  gsub("0[.][0-9]+[.][0-9.]+", "<version>", lines)
}

test_that("a program goes through bytes and a file, and does what it did", {
  skip_without_plugin()
  exec <- compile(donating)
  run <- function(exec, x) pjrt_execute(exec, x, pjrt_buffer(a_matrix, "f64"))
  expected <- lapply(run(exec, pjrt_buffer(diag(4), "f64")), as_array)
  file <- withr::local_tempfile()
  bytes <- withVisible(pjrt_serialize(exec, file))
  expect_false(bytes$visible)
  expect_type(bytes$value, "raw")
  expect_identical(readBin(file, "raw", file.size(file)), bytes$value)
  for (again in list(pjrt_deserialize(bytes$value), pjrt_deserialize(path = file))) {
    expect_s3_class(again, "xlaffi_executable")
    expect_identical(platform(again), "cpu")
    expect_identical(.Call(xlaffi:::wrap__executable_info, again)$name, "donates")
    x <- pjrt_buffer(diag(4), "f64")
    expect_identical(lapply(run(again, x), as_array), expected)
    expect_error(as_array(x), "deleted or donated buffer")
    x <- pjrt_buffer(diag(4), "f64")
    keep <- pjrt_execution_options(non_donatable_input_indices = 0L)
    pjrt_execute(again, x, pjrt_buffer(a_matrix, "f64"), execution_options = keep)
    expect_identical(as_array(x), diag(4))
    # Once more: nothing is lost on the way.
    expect_identical(lapply(run(pjrt_deserialize(bytes_of(again)), pjrt_buffer(diag(4), "f64")), as_array), expected)
  }
})

test_that("what is loaded in another process is the same to the last bit", {
  skip_without_plugin()
  file <- withr::local_tempfile()
  out <- withr::local_tempfile()
  text <- xla_program(function(x) {
    s <- xla_svd(x)
    list(s$u %*% t(s$v), sum(exp(s$d)), max(x), x[2:3, ] / 3)
  }, a_matrix)
  exec <- compile(text)
  pjrt_serialize(exec, file)
  run <- run_r(sprintf("
    exec <- pjrt_deserialize(path = %s)
    x <- matrix(c(%s), 4)
    saveRDS(lapply(pjrt_execute(exec, pjrt_buffer(x, 'f64')), as_array), %s)
  ", deparse(file), paste(a_matrix, collapse = ", "), deparse(out)))
  expect_identical(run$status, 0L, info = run$output)
  expect_identical(readRDS(out), lapply(pjrt_execute(exec, pjrt_buffer(a_matrix, "f64")), as_array))
})

test_that("a program is loaded for the device that is asked for", {
  skip_without_plugin()
  run <- run_r("
    invisible(pjrt_client(cpu_device_count = 2L))
    text <- 'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }'
    exec <- pjrt_compile(pjrt_program(text))
    for (place in c('cpu:0', 'cpu:1')) {
      there <- pjrt_deserialize(pjrt_serialize(exec), device = place)
      y <- pjrt_execute(there, pjrt_buffer(c(1, 2), device = place))
      cat(format(device(there)), format(device(y)), as_array(y), '\n')
    }
  ")
  expect_identical(tail(run$output, 2L), c(
    "CpuDevice(id=0) CpuDevice(id=0) 2 4 ", "CpuDevice(id=1) CpuDevice(id=1) 2 4 "
  ))
})

test_that("HLO programs and bytecode are kept as they are", {
  skip_without_plugin()
  text <- compile(donating)
  parts <- .Call(xlaffi:::wrap__executable_serialize, text)
  expect_identical(parts$format, "mlir")
  expect_identical(rawToChar(parts$program), donating)
  again <- .Call(xlaffi:::wrap__executable_serialize, pjrt_deserialize(bytes_of(text)))
  expect_identical(again[c("format", "program")], parts[c("format", "program")])
})

test_that("bytes that are not what was written are refused, whatever was done to them", {
  skip_without_plugin()
  bytes <- bytes_of(compile(donating))
  refused <- c("DATA_LOSS", "INVALID_ARGUMENT", "FAILED_PRECONDITION")
  # No try of these may reach XLA, which ends the process on some.
  with_plain_errors({
    for (length in unique(c(0:30, seq(31, length(bytes) - 1L, length.out = if (all_run()) 200L else 20L)))) {
      expect_true(error_of(pjrt_deserialize(bytes[seq_len(length)]))$code %in% refused)
    }
    withr::local_seed(1)
    for (at in one_in(10L, c(1:300, sample(length(bytes), 300L)))) {
      changed <- bytes
      changed[[at]] <- xor(changed[[at]], as.raw(2^sample(0:7, 1L)))
      expect_true(error_of(pjrt_deserialize(changed))$code %in% refused)
    }
  })
  expect_identical(error_of(pjrt_deserialize(c(bytes, as.raw(0))))$code, "DATA_LOSS")
  expect_identical(error_of(pjrt_deserialize(c(bytes, bytes)))$code, "DATA_LOSS")
})

test_that("a program is refused where it was not made for", {
  skip_without_plugin()
  bytes <- bytes_of(compile(donating))
  expect_s3_class(pjrt_deserialize(forged(bytes, "device cpu")), "xlaffi_executable")
  lines <- c(
    "xlaffi 0.0.1", "platform cuda", "plugin jaxlib 9.9.9 (cpu)", "device NVIDIA H200", "system aarch64-apple-darwin20",
    "processor Another one 0123456789abcdef"
  )
  for (line in lines) {
    expect_identical(error_of(pjrt_deserialize(forged(bytes, line)))$code, "FAILED_PRECONDITION")
  }
  expect_snapshot(error = TRUE, transform = general, {
    pjrt_deserialize(forged(bytes, "plugin jaxlib 9.9.9 (cpu)"))
    pjrt_deserialize(forged(bytes, "processor Another one 0123456789abcdef"))
  })
  newer <- bytes
  newer[[nchar(xlaffi:::serialized_head) + 1L]] <- charToRaw("3")
  expect_snapshot(error = TRUE, {
    pjrt_deserialize(newer)
    pjrt_deserialize(head(bytes, -1))
    pjrt_deserialize(head(bytes, 60))
    pjrt_deserialize(charToRaw("func.func @main() { return }"))
    pjrt_deserialize(raw())
    pjrt_deserialize("text")
    pjrt_deserialize()
    pjrt_deserialize(path = "no such file")
    pjrt_serialize("program")
  })
})

test_that("a place that cannot be written is told", {
  skip_without_plugin()
  error <- error_of(pjrt_serialize(compile(donating), file.path(withr::local_tempdir(), "no", "folder")))
  expect_identical(error$code, "UNAVAILABLE")
})

test_that("a file keeps its mode, a link what it leads to, and a device is one afterwards", {
  skip_without_plugin()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  exec <- compile(donating)
  file.create("known")
  Sys.chmod("known", "664", use_umask = FALSE)
  file.symlink("known", "link")
  bytes <- pjrt_serialize(exec, "link")
  expect_identical(Sys.readlink("link"), "known")
  expect_identical(format(file.mode("known")), "664")
  expect_identical(readBin("known", "raw", file.size("known")), bytes)
  pjrt_serialize(exec, "new")
  expect_identical(file.mode("new"), as.octmode("666") & !Sys.umask())
  pjrt_serialize(exec, "/dev/null")
  expect_length(readBin("/dev/null", "raw", 1), 0L)
})

test_that("ops of the user's own go along by name and definition", {
  skip_without_plugin()
  skip_unless_all()
  define <- function(digest) {
    own_op("serialized.times", "x: f64[n], y: f64[] -> z: f64[n]", "times_f64", options = list(digest = digest))
  }
  times <- define("first")
  bytes <- bytes_of(compile(xla_program(function(x) times(x, 2) + 1, c(1, 2))))
  run <- function() as.vector(as_array(pjrt_execute(pjrt_deserialize(bytes), pjrt_buffer(c(1, 2), "f64"))))
  expect_identical(run(), c(3, 5))
  file <- withr::local_tempfile()
  writeBin(bytes, file)
  elsewhere <- run_r(sprintf("pjrt_deserialize(path = %s)", deparse(file)))
  expect_match(paste(elsewhere$output, collapse = " "), "No FFI handler registered for +serialized.times")
  # Defined in another way, and the first one gone.
  times <- define("second")
  gc()
  expect_snapshot(error = TRUE, run())
})
