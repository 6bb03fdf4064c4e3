# What downloads show. Nothing comes from a network: files and a server of this machine.

# As in an interactive session, with what bars were told in place of bars.
local_bars <- function(envir = parent.frame()) {
  withr::local_options(rlang_interactive = TRUE, xlaffi.progress = NULL, .local_envir = envir)
  told <- new.env()
  told$lines <- NULL
  local_binding("new_download_bar", function(name, total = NA_real_) {
    list(
      tell = function(done, of = total, file = name) {
        told$lines <- rbind(told$lines, data.frame(file = file, done = done, total = of))
      },
      end = function() told$ended <- TRUE
    )
  }, envir)
  told
}

# The address of a server that answers with what `answers`, a function of Python's in lines, does with a path.
local_server <- function(answers, envir = parent.frame()) {
  port <- withr::local_tempfile(.local_envir = envir)
  script <- withr::local_tempfile(fileext = ".py", .local_envir = envir, lines = c(
    "import http.server, os, sys, threading",
    "class Handler(http.server.BaseHTTPRequestHandler):",
    "    def log_message(self, *args): pass",
    "    def do_HEAD(self): self.do_GET()",
    "    def do_GET(self):",
    paste0("        ", answers),
    "server = http.server.HTTPServer(('127.0.0.1', 0), Handler)",
    "threading.Timer(60, lambda: os._exit(0)).start()",
    "open(sys.argv[1] + '.part', 'w').write('%d %d' % (server.server_port, os.getpid()))",
    "os.rename(sys.argv[1] + '.part', sys.argv[1])",
    "server.serve_forever()"
  ))
  python <- plugin_python()
  system2(python, shQuote(c(script, port)), wait = FALSE, stdout = FALSE, stderr = FALSE)
  for (i in 1:100) {
    if (file.exists(port)) break
    Sys.sleep(0.1)
  }
  numbers <- scan(port, quiet = TRUE)
  withr::defer(tools::pskill(numbers[[2]]), envir)
  sprintf("http://127.0.0.1:%d", as.integer(numbers[[1]]))
}

test_that("a bar's text has the sizes, and the time left once it is known", {
  text <- xlaffi:::download_text
  expect_identical(text(0, 62.7e6, 0), "0 B of 62.7 MB")
  expect_identical(text(12e6, 62.7e6, 0.5), "12 MB of 62.7 MB")
  expect_identical(text(12e6, 62e6, 2), "12 MB of 62 MB, 9 s left")
  expect_identical(text(1e6, 62e6, 10), "1 MB of 62 MB, 11 min left")
  expect_identical(text(62e6, 62e6, 10), "62 MB of 62 MB, 0 s left")
  # More than was said, nothing for seconds, and no size
  expect_identical(text(63e6, 62e6, 10), "63 MB of 62 MB, 0 s left")
  expect_identical(text(0, 62e6, 10), "0 B of 62 MB")
  expect_identical(text(5e5, NA_real_, 3), "500 kB")
})

test_that("a file comes whole, by parts, where there is a bar", {
  told <- local_bars()
  bytes <- as.raw(sample(0:255, 200000, TRUE))
  from <- withr::local_tempfile()
  writeBin(bytes, from)
  to <- withr::local_tempfile()
  fetch <- function(...) xlaffi:::fetch_file(paste0("file://", from), to, ...)
  fetch("some")
  expect_identical(readBin(to, "raw", 3e5), bytes)
  expect_identical(told$lines$done, c(65536, 131072, 196608, 200000))
  expect_true(all(told$lines$total == 200000) && all(told$lines$file == "some"))
  expect_true(told$ended)
  # A length that the caller knows is not asked for; an empty file is one.
  told$lines <- NULL
  fetch("some", bytes = 400000)
  expect_true(all(told$lines$total == 400000))
  file.create(from)
  fetch("some")
  expect_identical(file.size(to), 0)
  # Where nobody looks, and where download.file() is to call a program, there is none.
  told$lines <- NULL
  writeBin(bytes, from)
  fetch()
  withr::with_options(list(rlang_interactive = FALSE), fetch("some"))
  withr::with_options(list(xlaffi.progress = FALSE), fetch("some"))
  if (nzchar(Sys.which("curl"))) withr::with_options(list(download.file.method = "curl"), fetch("some"))
  expect_null(told$lines)
  expect_identical(readBin(to, "raw", 3e5), bytes)
  unlink(from)
  expect_error(fetch("some"), "cannot download", class = "xlaffi_error_unavailable")
})

test_that("the bar itself is shown by cli, with and without a size", {
  withr::local_options(
    cli.dynamic = TRUE, cli.ansi = FALSE, cli.progress_show_after = 0, cli.progress_clear = FALSE, cli.width = 80
  )
  shown <- function(total) {
    lines <- cli::cli_fmt({
      bar <- xlaffi:::new_download_bar("some file", total)
      bar$tell(1e6)
      Sys.sleep(0.15)
      for (i in 1:3) bar$tell(2e6) # the end may be told again
      bar$tell(3e6, 4e6, "another")
      bar$end()
      bar$end()
    })
    paste(lines, collapse = "\n")
  }
  expect_match(shown(2e6), "some file.*1 MB of 2 MB.*some file.*100% 2 MB of 2 MB.*another.* 75% 3 MB of 4 MB")
  expect_match(shown(NA_real_), "some file 1 MB.*some file 2 MB.*another.* 75% 3 MB of 4 MB")
  # What is over in two seconds shows nothing.
  withr::local_options(cli.progress_show_after = NULL)
  expect_identical(shown(2e6), "")
})

test_that("servers are asked for lengths, and what ends early is an error", {
  skip_unless_all()
  skip_if(!nzchar(plugin_python()))
  skip_on_os("windows")
  root <- local_server(c(
    "body = b'x' * 100000",
    "if self.path == '/moved': self.send_response(302); self.send_header('Location', '/whole')",
    "elif self.path == '/gone': self.send_response(404); body = b'no'; self.send_header('Content-Length', '2')",
    "else:",
    "    self.send_response(200)",
    "    if self.path != '/unknown':",
    "        self.send_header('Content-Length', str(len(body) * (2 if self.path == '/short' else 1)))",
    "self.end_headers()",
    "if self.command == 'GET' and self.path != '/moved': self.wfile.write(body)"
  ))
  told <- local_bars()
  to <- withr::local_tempfile()
  fetch <- function(path) xlaffi:::fetch_file(paste0(root, path), to, "some")
  for (path in c("/whole", "/moved")) {
    told$lines <- NULL
    fetch(path)
    expect_identical(file.size(to), 1e5)
    expect_identical(utils::tail(told$lines$done, 1), 1e5)
    expect_true(all(told$lines$total == 1e5))
  }
  told$lines <- NULL
  fetch("/unknown")
  expect_identical(file.size(to), 1e5)
  expect_true(all(is.na(told$lines$total)))
  expect_error(fetch("/short"), class = "xlaffi_error_unavailable")
  expect_error(fetch("/gone"), "404", class = "xlaffi_error_unavailable")
  expect_error(xlaffi:::fetch_file("http://127.0.0.1:9/none", to, "some"), class = "xlaffi_error_unavailable")
})

test_that("the plugin's wheel has a bar in an interactive session", {
  wheel <- local_wheel()
  told <- local_bars()
  suppressMessages(expect_message(install_pjrt("plugin"), "Installed the CPU plugin"))
  expect_true(file.exists(file.path(xlaffi:::cache_dir("cpu"), "pjrt_some.so")))
  expect_identical(utils::tail(told$lines, 1)$done, wheel$bytes)
  # In a script the line that announces it is all.
  unlink(xlaffi:::cache_dir("cpu"), recursive = TRUE)
  told$lines <- NULL
  withr::local_options(rlang_interactive = FALSE)
  lines <- character()
  withCallingHandlers(install_pjrt("plugin"), message = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  expect_null(told$lines)
  expect_length(grep("Downloading", lines), 1L)
})

test_that("pip's downloads are watched", {
  skip_unless_all()
  skip_if(!nzchar(plugin_python()))
  skip_on_os("windows")
  python <- plugin_python()
  # A Python whose pip takes half a second for a file, and fails if it is asked to.
  stand_in <- withr::local_tempfile(lines = c(
    "#!/bin/sh",
    sprintf("[ \"$1\" = -m ] || exec '%s' \"$@\"", python),
    "echo Collecting some",
    "mkdir $TMPDIR/pip-unpack-1",
    "for n in 1 2 3 4; do head -c 250000 /dev/zero >> $TMPDIR/pip-unpack-1/some-1.0-py3-none-any.whl",
    "  [ $n != 1 ] || echo '  Downloading https://host/some-1.0-py3-none-any.whl (1.0 MB)'",
    "  sleep 0.25; done",
    "case \"$*\" in *broken*) echo 'ERROR: no such package' >&2; exit 3;; esac",
    "echo Successfully installed"
  ))
  Sys.chmod(stand_in, "755")
  told <- local_bars()
  xlaffi:::pip_install(stand_in, "some", NULL)
  expect_true(all(told$lines$file == "some-1.0") && all(told$lines$total == 1e6))
  expect_true(!is.unsorted(told$lines$done) && all(told$lines$done %in% (1:4 * 250000)))
  expect_true(told$ended)
  error <- error_of(xlaffi:::pip_install(stand_in, "broken", NULL))
  expect_s3_class(error, "xlaffi_error_failed_precondition")
  expect_match(conditionMessage(error), "status 3.*Successfully|status 3.*ERROR: no such package")
  expect_no_match(conditionMessage(error), "\t")
  # In a script pip is told to be quiet, and its output is the error's only.
  told$lines <- NULL
  withr::local_options(rlang_interactive = FALSE)
  withr::local_envvar(TMPDIR = withr::local_tempdir())
  error <- error_of(xlaffi:::pip_install(stand_in, "broken", NULL))
  expect_match(conditionMessage(error), "pip install --quiet --disable-pip-version-check broken` failed with status 3")
  expect_null(told$lines)
})
