entry <- function(key, make = writes("code"), libraries = "unit1.so") {
  xlaffi:::code_entry(xlaffi:::text_digest(key), "name", libraries, make)
}
writes <- function(text) function(folder) writeLines(text, file.path(folder, "unit1.so"))
never <- function(folder) stop("made once more")
left_over <- function(root) list.files(root, "^(making-|[.])", all.files = TRUE, no.. = TRUE)

test_that("digests are SHA-256", {
  for (length in c(0:130, 1000L, 100000L)) {
    bytes <- as.raw((seq_len(length) * 37L) %% 256L)
    expect_identical(xlaffi:::digest_of(bytes), cli::hash_raw_sha256(bytes))
  }
  expect_identical(xlaffi:::digest_of("Gr\u00f6\u00dfe"), cli::hash_sha256("Gr\u00f6\u00dfe"))
  expect_identical(xlaffi:::text_digest(c("a", "b")), cli::hash_sha256("a\nb"))
  file <- withr::local_tempfile(lines = "text")
  expect_identical(xlaffi:::hash_file(file), cli::hash_file_sha256(file))
})

test_that("what was made is found again, each under its key", {
  root <- local_code_cache()
  folder <- entry("a")
  expect_identical(entry("a", never), folder)
  expect_identical(readLines(file.path(folder, "unit1.so")), "code")
  expect_false(identical(entry("b"), folder))
  expect_identical(left_over(root), character())
  code <- xla_cache("code")
  expect_identical(code$name, c("name", "name"))
  expect_setequal(basename(code$folder), c(xlaffi:::text_digest("a"), xlaffi:::text_digest("b")))
  expect_identical(xla_cache_clear("code"), 2L)
  expect_identical(nrow(xla_cache("code")), 0L)
})

test_that("damaged code is made again", {
  local_code_cache()
  folder <- entry("a")
  cat("more", file = file.path(folder, "unit1.so"), append = TRUE)
  expect_identical(entry("a", writes("new")), folder)
  expect_identical(readLines(file.path(folder, "unit1.so")), "new")
  unlink(file.path(folder, "about"))
  expect_identical(readLines(file.path(entry("a", writes("third")), "unit1.so")), "third")
  unlink(file.path(folder, "unit1.so"))
  expect_identical(readLines(file.path(entry("a", writes("fourth")), "unit1.so")), "fourth")
})

test_that("what cannot be read is made again", {
  local_code_cache()
  folder <- entry("a")
  for (name in c("unit1.so", "about")) {
    unlink(file.path(folder, name))
    dir.create(file.path(folder, name), mode = "0700")
    expect_silent(expect_identical(readLines(file.path(entry("a", writes(name)), "unit1.so")), name))
  }
  # It goes away between two looks.
  hash <- xlaffi:::hash_file
  withr::defer(assignInNamespace("hash_file", hash, "xlaffi"))
  assignInNamespace("hash_file", function(files) {
    unlink(files)
    assignInNamespace("hash_file", hash, "xlaffi")
    hash(files)
  }, "xlaffi")
  expect_silent(expect_identical(readLines(file.path(entry("a", writes("new")), "unit1.so")), "new"))
  unlink(file.path(folder, "about"))
  dir.create(file.path(folder, "about"))
  expect_silent(expect_identical(xla_cache("code")$name, character()))
})

test_that("an entry is used under its own key only", {
  root <- local_code_cache()
  folder <- entry("a", writes("first"))
  other <- file.path(root, xlaffi:::text_digest("b"))
  expect_true(file.rename(folder, other))
  expect_identical(readLines(file.path(entry("b", writes("second")), "unit1.so")), "second")
  skip_on_os("windows")
  link <- file.path(root, xlaffi:::text_digest("c"))
  expect_true(file.symlink(other, link))
  expect_identical(readLines(file.path(entry("c", writes("third")), "unit1.so")), "third")
  expect_identical(entry("b", never), other)
  expect_identical(Sys.readlink(link), "")
  # Those of before do not say.
  about <- readLines(file.path(other, "about"))
  writeLines(about[!startsWith(about, "key ")], file.path(other, "about"))
  expect_identical(readLines(file.path(entry("b", writes("fourth")), "unit1.so")), "fourth")
})

test_that("code that others can write is not used", {
  skip_on_os("windows")
  root <- local_code_cache()
  folder <- entry("a")
  for (path in c(folder, file.path(folder, "unit1.so"), file.path(folder, "about"))) {
    Sys.chmod(path, "0777", use_umask = FALSE)
    expect_identical(readLines(file.path(entry("a", writes(path)), "unit1.so")), path)
    expect_identical(xlaffi:::foreign_reason(path), NULL)
  }
  expect_identical(left_over(root), character())
})

test_that("a folder that others can write is not used", {
  skip_on_os("windows")
  root <- local_code_cache()
  Sys.chmod(root, "0777", use_umask = FALSE)
  cache_state <- xlaffi:::cache_state
  op_state <- xlaffi:::op_state
  withr::defer(cache_state$folders$code <- NULL)
  op_state$warned_code_folder <- FALSE
  expect_message(folder <- entry("open"), "can be written by others", class = "xlaffi_message_code_cache")
  expect_true(startsWith(folder, tempdir()))
  expect_identical(list.files(root), character())
})

test_that("a relative path is the folder that it names where R works", {
  folders <- normalizePath(c(withr::local_tempdir(), withr::local_tempdir()))
  withr::local_options(xlaffi.code_cache = "cache")
  for (folder in folders) {
    withr::local_dir(folder)
    expect_identical(dirname(entry("a", writes(folder))), file.path(folder, "cache"))
  }
  skip_on_os("windows")
  # Looked at there, too.
  Sys.chmod(file.path(folders[[1L]], "cache"), "0777", use_umask = FALSE)
  setwd(folders[[1L]])
  cache_state <- xlaffi:::cache_state
  op_state <- xlaffi:::op_state
  withr::defer(cache_state$folders$code <- NULL)
  op_state$warned_code_folder <- FALSE
  expect_message(code <- entry("a"), "can be written by others", class = "xlaffi_message_code_cache")
  expect_true(startsWith(code, tempdir()))
})

test_that("what belongs to another user is told from what is ours", {
  skip_on_os("windows")
  file <- withr::local_tempfile(lines = "text")
  Sys.chmod(file, "0600")
  expect_null(xlaffi:::foreign_reason(file))
  if (file.info("/")$uid == file.info(tempdir())$uid) {
    expect_identical(system2("chown", c("65534", file)), 0L)
    expect_identical(xlaffi:::foreign_reason(file), "belongs to another user")
  } else {
    expect_identical(xlaffi:::foreign_reason("/"), "belongs to another user")
  }
})

test_that("a folder that cannot be used is told once, and the session's own is used", {
  file <- withr::local_tempfile(lines = "no folder")
  withr::local_options(xlaffi.code_cache = file.path(file, "code"))
  cache_state <- xlaffi:::cache_state
  op_state <- xlaffi:::op_state
  withr::defer(cache_state$folders$code <- NULL)
  op_state$warned_code_folder <- FALSE
  expect_message(folder <- entry("a"), "cannot be made", class = "xlaffi_message_code_cache")
  expect_true(startsWith(folder, tempdir()))
  expect_silent(expect_identical(entry("a", never), folder))
})

test_that("a full disk sends code to the session's own folder", {
  root <- local_code_cache()
  cache_state <- xlaffi:::cache_state
  op_state <- xlaffi:::op_state
  withr::defer(cache_state$folders$code <- NULL)
  op_state$warned_code_folder <- FALSE
  full <- function(folder) if (startsWith(folder, root)) xlaffi:::disk_full("is full") else writes("code")(folder)
  expect_message(folder <- entry("full", full), "is full", class = "xlaffi_message_code_cache")
  expect_true(startsWith(folder, tempdir()))
  expect_identical(list.files(root, all.files = TRUE, no.. = TRUE), character())
})

test_that("a compiler's error leaves nothing behind", {
  root <- local_code_cache()
  expect_error(entry("a", function(folder) stop("bad code")), "bad code")
  expect_identical(list.files(root, all.files = TRUE, no.. = TRUE), character())
})

test_that("the code used least lately goes when there is too much", {
  local_code_cache()
  folders <- vapply(c("a", "b", "c"), entry, "")
  for (i in 1:3) {
    Sys.setFileTime(file.path(folders[[i]], "about"), as.POSIXct("2026-01-01") + i)
  }
  entry("a", never)
  withr::local_options(xlaffi.code_cache_size = 2.5 * xla_cache("code")$bytes[[1]])
  last <- entry("d")
  expect_true(all(dir.exists(c(folders[["a"]], last))))
  expect_false(any(dir.exists(folders[c("b", "c")])))
  withr::local_options(xlaffi.code_cache_size = 0)
  expect_true(dir.exists(entry("e")))
})

test_that("processes at once share an entry, and one that is killed leaves nothing that is used", {
  root <- local_code_cache()
  child <- function(code) {
    text <- sprintf("options(xlaffi.code_cache = '%s'); key <- xlaffi:::text_digest('a'); %s", root, code)
    xlaffi:::start_program(file.path(R.home("bin"), "Rscript"), c("-e", text), tempdir())
  }
  make <- "function(f) { writeLines('code', file.path(f, 'unit1.so')); file.create('%s'); Sys.sleep(%d) }"
  started <- withr::local_tempfile()
  entry_text <- function(make) sprintf("xlaffi:::code_entry(key, 'name', 'unit1.so', %s)", make)
  killed <- child(entry_text(sprintf(make, started, 60L)))
  kill_once_there(killed, started)
  expect_length(left_over(root), 1L)
  expect_identical(nrow(xla_cache("code")), 0L)

  running <- lapply(1:2, function(i) child(entry_text(sprintf(make, started, 1L))))
  done <- lapply(running, xlaffi:::finish_program)
  expect_identical(vapply(done, `[[`, 0L, "status"), c(0L, 0L))
  folder <- entry("a", never)
  expect_true(xlaffi:::is_sound_entry(folder, xlaffi:::text_digest("a"), "unit1.so"))
  # What the first one left goes when it is old.
  expect_length(left_over(root), 1L)
  Sys.setFileTime(file.path(root, left_over(root)), Sys.time() - 7200)
  entry("b")
  expect_identical(left_over(root), character())
})

test_that("options that make no sense are refused", {
  withr::local_options(xlaffi.code_cache = 1)
  expect_error(entry("a"), class = "xlaffi_error_invalid_argument")
  local_code_cache()
  withr::local_options(xlaffi.code_cache_size = "large")
  expect_error(entry("a"), class = "xlaffi_error_invalid_argument")
  expect_error(xla_cache("files"), class = "xlaffi_error_invalid_argument")
})
