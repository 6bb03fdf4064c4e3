# Whatever way traced code reads the session by: a change is noticed, or the reading is refused. R itself is the
# reference: one program for all bodies, run before and after everything has changed.

test_that("what functions of R's read of the session asks for another program when it changes", {
  skip_without_plugin()
  home <- new.env(parent = globalenv())
  withr::defer(rm("xlaffi_k", envir = globalenv()))
  assign("xlaffi_k", 2, envir = globalenv())
  eval(quote({
    k <- 2
    name <- "k"
    zero <- list(0)
    env <- list2env(list(k = 2, inner = list2env(list(k = 2))))
    large <- list2env(stats::setNames(as.list(numeric(1200)), paste0("k", 1:1200)))
    code <- quote(k + 1)
    formula <- y ~ pmax(x, k * 3)
    u <- c(1, 2, 3, 5)
    v <- c(1, 2, 3, 4)
    line <- u ~ v
    groups <- factor(c("a", "b", "c"))
    by_name <- function(n, e = parent.frame()) get(n, envir = e)
    times <- function(x) x * k
    caller <- function(e) eval.parent(substitute(e))
  }), home)
  Counter <- setRefClass("XlaffiCounter", fields = list(k = "numeric"), where = home)
  home$object <- Counter$new(k = 2)
  bodies <- expression(
    x * globalenv()$xlaffi_k, x * .GlobalEnv[["xlaffi_k"]], x * .GlobalEnv$xlaffi_k, x * topenv()$xlaffi_k,
    x * as.environment(1)$xlaffi_k, x * as.list(globalenv())$xlaffi_k, x * with(globalenv(), xlaffi_k),
    x * eval(quote(xlaffi_k + 1), globalenv()), x * evalq(xlaffi_k + 1, globalenv()),
    x * sapply(paste0("xlaffi_", "k"), get), x * eval(as.name(paste0("xlaffi_", "k"))),
    x * get(paste0("k")), x * get(name), x * get0(paste0("k")), x * mget(name, inherits = TRUE)[[1]],
    x * mget(paste0("k"), envir = parent.env(environment()))[[1]], x * do.call("get", list(name)), x * base::get(name),
    x * base:::get(name), x * (if (exists(paste0("later"))) 3 else 4), x * is.null(get0(paste0("later"))),
    x * eval(quote(k + 1)), x * eval(code), x * eval(formula[[3]]), x * eval(str2lang(paste("k", "+ 1"))),
    x * eval(quote(a * k), list(a = 3)), x * do.call(eval, list(code)), x * eval(expression(k, k * 2)),
    x * local(k), x * caller(k + 1), {
      y <- x * k
      by_name("y")
    }, {
      h <- function() get("y", parent.frame())
      y <- x * k
      h()
    }, {
      h <- function() dynGet("y")
      y <- x * k
      h()
    },
    get(paste0("ti", "mes"))(x), x * parent.env(environment())$k, x * environment(times)$k,
    x * environment(sys.function())$k, x * env$k, x * env[["k"]], x * env[[name]], x * env$inner$k, x * large$k7,
    x * large[[paste0("k", 7)]], x * get("k7", large), x * eval(quote(k7), large), x * with(large, k7), x * object$k,
    x * length(ls(env)), x * length(names(env)), x * length(env), x * length(eapply(env, identity)),
    x * length(lapply(env, identity)), x * length(mget(ls(env), envir = env)), x / (zero[[1]] * 2),
    x * unname(stats::coef(stats::lm(line)))[[2]], x * sum(stats::model.matrix(line)),
    x * sum(stats::model.matrix(~ groups)[3, ]), x * nchar(getwd())
  )
  f <- eval(call("function", as.pairlist(alist(x = )), as.call(c(as.name("list"), as.list(bodies)))), home) # nolint
  compiled <- xla_jit(f)
  values <- function(f) lapply(f(c(3, 5)), as.vector)
  first <- values(f)
  expect_equal(values(compiled), first)
  # Nothing has changed: the program stays.
  programs <- nrow(xla_cache())
  values(compiled)
  expect_identical(nrow(xla_cache()), programs)
  # What each change touches is noticed by itself.
  changes <- list(
    quote(assign("xlaffi_k", 7, envir = globalenv())), quote(k <- 11), quote(later <- 1), quote(env$k <- 13),
    quote(env$inner$k <- 17), quote(large$k7 <- 19), quote(object$k <- 23), quote(env$new <- 1),
    quote(zero <- list(-0)),
    quote(u <- c(2, 2, 3, 9)), quote(v <- c(1, 2, 3, 9)), quote(options(contrasts = c("contr.sum", "contr.poly"))),
    quote(formula <- y ~ pmax(x, k * 4)), quote(setwd(tempdir()))
  )
  withr::local_options(contrasts = getOption("contrasts"))
  withr::local_dir(getwd())
  for (change in one_in(3L, changes)) {
    eval(change, home)
    expect_equal(values(compiled), values(f), info = deparse1(change))
  }
  skip_unless_all()
  later <- values(f)
  same <- vapply(seq_along(later), function(i) isTRUE(all.equal(first[[i]], later[[i]])), NA)
  expect_identical(as.character(bodies[same]), character())
})

test_that("functions that are given by computed names ask for another program when they change", {
  skip_without_plugin()
  one <- list(before = function(x) x + 1, after = function(x) x + 10)
  two <- list(before = function(a, b) a + b, after = function(a, b) a * b + 7)
  first <- list(before = function(x) x > 1, after = function(x) x > 0)
  all <- list(before = function(x) sum(x), after = function(x) sum(x) * 3 + 1)
  # `name` stands for a name that is put together while the code runs.
  uses <- list(
    do.call = list(quote(do.call(name, list(x))), one), sapply = list(quote(sum(sapply(x, name))), one),
    lapply = list(quote(lapply(list(x, x), name)[[2]]), one), vapply = list(quote(sum(vapply(x, name, 0))), one),
    Map = list(quote(Map(name, list(x))[[1]]), one), mapply = list(quote(sum(mapply(name, list(x, x)))), one),
    eapply = list(quote(x + eapply(list2env(list(a = 1)), name)[[1]]), one),
    match.fun = list(quote((function() match.fun(name))()(x)), one),
    Reduce = list(quote(Reduce(name, list(x, x))), two),
    outer = list(quote(sum(outer(c(x, x), c(x, x), name))), two),
    sweep = list(quote(sum(sweep(cbind(x, x), 1, 2, name))), two),
    Filter = list(quote(x + length(Filter(name, list(1, 2)))), first),
    Find = list(quote(x + Find(name, list(1, 2))), first),
    Position = list(quote(x + Position(name, list(1, 2))), first), Negate = list(quote(x + Negate(name)(1)), first),
    apply = list(quote(sum(apply(cbind(x, x), 1, name))), all),
    tapply = list(quote(sum(tapply(c(x, x), c(1, 2), name))), all),
    ave = list(quote(sum(ave(c(x, x), c(1, 2), FUN = (function() match.fun(name))()))), all)
  )
  home <- new.env(parent = globalenv())
  bodies <- lapply(names(uses), function(use) {
    assign(paste0("for_", use), uses[[use]][[2]]$before, envir = home)
    do.call(substitute, list(uses[[use]][[1]], list(name = call("paste0", "for", paste0("_", use)))))
  })
  f <- eval(call("function", as.pairlist(alist(x = )), as.call(c(as.name("list"), bodies))), home) # nolint
  compiled <- xla_jit(f)
  values <- function(f) stats::setNames(lapply(f(2), as.vector), names(uses))
  expect_equal(values(compiled), values(f))
  for (use in one_in(3L, names(uses))) {
    assign(paste0("for_", use), uses[[use]][[2]]$after, envir = home)
    expect_equal(values(compiled), values(f), info = use)
  }
})

test_that("0 and -0 are two numbers for what keeps programs", {
  skip_without_plugin()
  zero <- 0
  f <- xla_jit(function(x) x / zero)
  expect_identical(f(1), Inf)
  zero <- -0
  expect_identical(f(1), -Inf)
  made <- lapply(list(0, -0), function(zero) eval(bquote(function(x) x / .(zero)), globalenv()))
  expect_identical(xla_jit(function(x) c(made[[1]](x), made[[2]](x)))(1), c(Inf, -Inf))
})

test_that("what depends on where a compiled function is called is refused", {
  skip_without_plugin()
  refused <- expression(
    x * parent.frame()$k, x * get("k", parent.frame()), x * dynGet("k"), x * eval.parent(quote(k)),
    x * sys.frames()[[1]]$k, x * sys.frame(1)$k, x * eval(quote(k), 1), x * mget("k")[[1]], x * get("no such object")
  )
  k <- 2
  for (body in refused) {
    expect_snapshot(error = TRUE, xla_jit(eval(call("function", as.pairlist(alist(x = )), body)))(1)) # nolint
  }
})

# Functions of R's that ask clocks, files, processes or R's own state by these
asking <- c(
  "Sys.time", "date", "proc.time", "gc.time", "gc", "mem.maxNSize", "mem.maxVSize", "memory.profile", "file.access",
  "file.info", "file.exists", "file.choose", "file.show", "dir.exists", "list.dirs", "list.files", "readBin",
  "readChar",
  "readDCF", "readline", "readLines", "scan", "serializeInfoFromConn", "unserializeFromConn", "loadFromConn2", "load",
  "file", "bzfile", "gzfile", "xzfile", "url", "unz", "pipe", "fifo", "socketConnection", "serverSocket",
  "socketAccept",
  "sockSelect", "stdin", "curlDownload", "curlGetHeaders", "system", "Sys.glob", "Sys.readlink", "normalizePath",
  "tempfile", "getwd", "Sys.getenv", "getOption", "options", "Sys.getlocale", "Sys.localeconv", "l10n_info",
  "getConnection", "getAllConnections", "summary.connection", "isIncomplete", "isOpen", "seek", "pushBackLength",
  "Sys.umask", "parse", "search", "RNGkind", "traceback", "tzone_name", "readRenviron", "Cstack_info", "gcinfo",
  "gctorture", "parent.frame", "sys.frame", "sys.frames", "get", "get0", "mget", "eval", "exists", "environment",
  "parent.env", "ls", "eapply", "geterrmessage"
)

# Of these the results do not change within a session, are R's calls or connections that the code has made itself, or
# the function is made to be called from the keyboard.
harmless <- c(
  "commandArgs", "interactive", "Sys.info", "Sys.getpid", "sys.calls", "returnValue", "rawConnectionValue",
  "textConnectionValue", "tryCatch", "attach", "cat"
)

test_that("each function of R's that asks what is outside is refused or noted", {
  skip_unless_all()
  internals <- function(code) {
    if (!is.call(code)) {
      return(character())
    }
    parts <- as.list(code)
    own <- if (identical(code[[1L]], quote(.Internal))) as.character(code[[2L]][[1L]])
    parts <- parts[!vapply(parts, function(part) identical(part, quote(expr = )), NA)] # nolint
    c(own, unlist(lapply(parts, internals)))
  }
  known <- c(names(xlaffi:::session_reads), names(xlaffi:::outside_functions), xlaffi:::whole_reads, harmless)
  for (package in c("base", "stats", "utils")) {
    exports <- getNamespaceExports(package)
    asks <- vapply(exports, function(name) {
      f <- getExportedValue(package, name)
      used <- if (is.primitive(f)) {
        name
      } else if (is.function(f)) {
        internals(as.call(c(as.name("{"), formals(f), body(f))))
      }
      any(used %in% asking)
    }, NA)
    expect_identical(sort(setdiff(exports[asks], known)), character(), info = package)
  }
})

test_that("clocks, files and processes are refused, text of R's is read", {
  skip_without_plugin()
  file <- withr::local_tempfile(lines = "3")
  refused <- expression(
    Sys.time(), as.numeric(Sys.Date()), base::date(), proc.time()[[3]], file.exists(file), readLines(file),
    read.csv(file), scan(file), sapply(file, readRDS), eval(quote(Sys.time())), eval(quote(Sys.time()), globalenv()),
    system.time(x + 1), parse(file), readline()
  )
  for (body in refused) {
    f <- eval(call("function", as.pairlist(alist(x = )), call("{", body, quote(x)))) # nolint
    expect_error(xla_jit(f)(1), "would be asked once", class = "xlaffi_error_unimplemented", info = deparse1(body))
  }
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) x + as.numeric(Sys.time()))(1)
    xla_jit(function(x) x + readRDS(file))(1)
    xla_jit(function(x) x + nchar(readline()))(1)
  })
  f <- function(x) {
    x * as.numeric(readLines(textConnection("3"))) * scan(text = "3 4", quiet = TRUE)[2] *
      read.table(text = "a\n3", header = TRUE)$a * eval(parse(text = "2 + 1"))
  }
  expect_identical(xla_jit(f)(1), f(1))
  # An R function that the program calls runs when the program does.
  now <- ffi_callback(function(x) x + as.numeric(Sys.time()), "x: f64[n] -> y: f64[n]")
  expect_gt(xla_jit(function(x) now(x))(1), 1e9)
})

test_that("names that `$` and get() meet while a program is written stay as they are for the user", {
  skip_without_plugin()
  held <- structure(list(r = 2), class = "xlaffi_held")
  f <- function(x) {
    `$.xlaffi_held` <- function(x, name) paste(name, "of", class(x))
    shown <- function(p) deparse(substitute(p))
    parts <- list(a = list(b = x))
    shown <- c(shown(parts$a$b), held$r, deparse(quote(u$v)))
    list(parts$a$b, nchar(shown), NULL$a, names(parts), do.call("$", list(parts, "a")))
  }
  g <- function(x) {
    out <- f(x)
    list(out[[1]], out[[2]], length(out[[3]]), nchar(out[[4]]), out[[5]]$b)
  }
  expect_equal(xla_jit(g)(c(1, 2)), g(c(1, 2)))
  expect_snapshot(error = TRUE, {
    xla_jit(function(x) x$name)(1)
    xla_jit(function(x) {
      p <- c(a = 1)
      x + p$a
    })(1)
  })
})
