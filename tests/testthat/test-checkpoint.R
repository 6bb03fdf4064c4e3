# Functions of w and x that call `g` between; `mark` is xla_checkpoint() or does nothing.
marked <- list(
  layers = function(mark) {
    layer <- mark(function(x, w) tanh(x %*% w))
    function(w, x) {
      for (i in 1:3) x <- layer(x, w)
      sum(x^2)
    }
  },
  captured = function(mark) {
    function(w, x) {
      g <- mark(function(x) sin(x %*% w))
      sum(g(g(x)) * exp(w[1, 1]))
    }
  },
  trees = function(mark) {
    g <- mark(function(p, n) list(a = p$x * p$w[1, 1] + n, b = list(exp(p$x) / n)))
    function(w, x) {
      out <- g(list(w = w, x = x), 2L)
      sum(out$a^2) + sum(out$b[[1]])
    }
  },
  nested = function(mark) {
    inner <- mark(function(x) sin(x) * x)
    outer <- mark(function(x, w) inner(inner(x) %*% w))
    function(w, x) sum(outer(x, w) * inner(x))
  },
  scan = function(mark) {
    function(w, x) {
      g <- mark(function(s, e) tanh(s %*% w)[1, ] * e)
      out <- hlo_scan(function(s, e) {
        s <- g(s, e)
        list(s, sum(s))
      }, x[1, ], x)
      sum(out$carry) + sum(out$y^2)
    }
  },
  around = function(mark) {
    turns <- function(w, x) hlo_scan(function(s, e) list(sin(s %*% w)[1, ], NULL), x[1, ], x)$carry
    g <- mark(function(w, x) hlo_cond(sum(x) > 0, function() turns(w, x), function() x[2, ]))
    function(w, x) sum(g(w, x)^2)
  },
  solved = function(mark) {
    g <- mark(function(w, x) solve(w, t(x)))
    function(w, x) sum(g(w, x)^2)
  }
)
w <- matrix(c(0.5, 0.1, -0.2, 0.3), 2)
x <- matrix(1:6 / 4, 3)
xs <- array(c(x, x + 0.5, -x, x^2), c(3, 2, 4))

test_that("values and derivatives of all kinds are those without checkpoints", {
  skip_without_plugin()
  kinds <- list(
    reverse = function(f) function(w, x, xs) xla_grad(f, 1:2, value = TRUE)(w, x),
    forward = function(f) function(w, x, xs) xla_jvp(f)(list(w, x), list(w, NULL)),
    reverse_twice = function(f) {
      function(w, x, xs) {
        xla_grad(function(w, x) sum(xla_grad(f)(w, x)^2), 1:2)(w, x)
      }
    },
    mixed = function(f) {
      function(w, x, xs) {
        forward <- function(w) xla_jvp(f)(list(w, x), list(w, x))$tangent
        list(xla_jacobian(xla_grad(f), mode = "forward")(w, x), xla_grad(forward)(w))
      }
    },
    batch = function(f) {
      function(w, x, xs) {
        batch <- function(w) sum(xla_vmap(f, list(NULL, 3))(w, xs))
        list(xla_vmap(xla_grad(f, 1:2), list(NULL, 3))(w, xs), xla_grad(batch)(w))
      }
    },
    linear = function(f) {
      function(w, x, xs) {
        at <- xla_linearize(f)(list(w, x))
        list(at$value, at$jvp(list(w, x)))
      }
    }
  )
  tries <- list(
    layers = c("reverse_twice", "batch"), captured = names(kinds), trees = "reverse", nested = "reverse_twice",
    scan = names(kinds), around = "reverse_twice", solved = "batch"
  )
  for (name in if (all_run()) names(marked) else c("trees", "nested", "solved")) {
    tried <- tries[[name]]
    both <- lapply(list(marked[[name]](xla_checkpoint), marked[[name]](identity)), function(f) {
      xla_jit(function(w, x, xs) lapply(kinds[tried], function(kind) kind(f)(w, x, xs)))(w, x, xs)
    })
    for (kind in tried) {
      expect_equal(both[[1]][[kind]], both[[2]][[kind]], tolerance = 1e-12, label = paste(name, kind))
    }
  }
})

test_that("numbers are the same bit by bit where nothing is added up in another order", {
  skip_without_plugin()
  chain <- function(mark) {
    g <- mark(function(x) sin(exp(x) * x))
    function(x) sum(g(g(g(x))))
  }
  x <- c(0.1, 0.5, 0.9)
  expect_identical(xla_grad(chain(xla_checkpoint))(x), xla_grad(chain(identity))(x))
})

test_that("the program computes again, behind a barrier, and forward nothing changes", {
  count <- function(text, what) lengths(regmatches(text, gregexpr(what, text, fixed = TRUE)))
  types <- list(ffi_type("f64", c(2, 2)), ffi_type("f64", c(3, 2)))
  text <- function(f, kind = xla_grad) do.call(xla_program, c(list(kind(f)), types))
  f <- marked$layers
  # The slope of tanh needs the products again.
  products <- lapply(list(plain = f(identity), marked = f(xla_checkpoint)), function(f) count(text(f), "dot_general"))
  expect_gte(products$marked, products$plain + 3L)
  expect_identical(count(text(f(xla_checkpoint)), "optimization_barrier"), 3L)
  expect_identical(text(f(xla_checkpoint), identity), text(f(identity), identity))
  # On other platforms the barrier is of all that there is: arguments and cotangents.
  graph <- xla_graph(xla_grad(f(xla_checkpoint)), types[[1]], types[[2]], .platform = "cuda")
  barriers <- Filter(function(node) node$op == "optimization_barrier", graph$nodes)
  expect_identical(lengths(lapply(barriers, `[[`, "operands")), c(3L, 3L, 3L))
  # What the derivative does not need is not kept: a product with a constant needs none.
  linear <- function(w, x) sum(xla_checkpoint(function(x) x * 3)(x) * w[1, 1])
  graph <- xla_graph(xla_grad(linear, 2), types[[1]], types[[2]], .platform = "cuda")
  barriers <- Filter(function(node) node$op == "optimization_barrier", graph$nodes)
  expect_identical(lengths(lapply(barriers, `[[`, "operands")), 1L)
})

test_that("XLA keeps less memory", {
  skip_without_plugin()
  skip_unless_all()
  layer <- function(x, w) sin(exp(tanh(x %*% w)) * 0.3)
  stack <- function(layer) {
    function(w, x) {
      for (i in 1:8) x <- layer(x, w)
      sum(x^2)
    }
  }
  batched <- function(f) xla_vmap(xla_grad(f), list(NULL, 1))
  twice <- function(f) xla_grad(function(w, x) sum(xla_grad(f)(w, x)^2))
  types <- list(ffi_type("f64", c(16, 16)), ffi_type("f64", c(256, 16)))
  wide <- list(types[[1]], ffi_type("f64", c(4, 256, 16)))
  folder <- withr::local_tempdir()
  write <- function(name, kind, types) {
    for (mark in c("plain", "marked")) {
      f <- stack(if (mark == "plain") layer else xla_checkpoint(layer))
      writeLines(do.call(xla_program, c(list(kind(f)), types)), file.path(folder, paste0(name, "-", mark, ".mlir")))
    }
  }
  write("gradient", xla_grad, types)
  write("batch", batched, wide)
  write("second", twice, types)
  code <- c(
    "import sys, glob", "from jaxlib import xla_client", "client = xla_client.make_cpu_client()",
    "devices = client.devices()",
    "if hasattr(xla_client, 'DeviceList'): devices = xla_client.DeviceList(tuple(devices))",
    "for path in sorted(glob.glob(sys.argv[1] + '/*.mlir')):",
    "    made = client.compile_and_load(open(path).read(), devices, xla_client.CompileOptions())",
    "    print(made.get_compiled_memory_stats().temp_size_in_bytes)"
  )
  script <- file.path(folder, "memory.py")
  writeLines(code, script)
  bytes <- as.numeric(system2(plugin_python(), c(script, folder), stdout = TRUE, stderr = FALSE))
  names(bytes) <- sort(sub("[.]mlir$", "", list.files(folder, "mlir$")))
  for (name in c("gradient", "batch", "second")) {
    expect_lt(bytes[[paste0(name, "-marked")]], 0.6 * bytes[[paste0(name, "-plain")]])
  }
})

test_that("calls with side effects are made once, or refused", {
  skip_without_plugin()
  count <- 0
  counted <- ffi_callback(function(x) {
    count <<- count + 1
    x * count
  }, "x: f64[n] -> y: f64[n]", side_effect = TRUE)
  op <- ffi_op(function(x) counted(x), jvp = function(primals, results, tangents) tangents$x * 2, name = "counted")
  by_results <- function(primals, results, tangents) results * tangents$x
  needed <- ffi_op(function(x) counted(x), jvp = by_results, name = "needed")
  calls <- function(run) {
    count <<- 0
    run()
    count
  }
  at <- c(0.3, 0.7)
  expect_identical(calls(function() xla_grad(function(x) sum(xla_checkpoint(op)(x)))(at)), 1)
  f <- function(x) sum(xla_checkpoint(needed)(x))
  expect_identical(calls(function() xla_jit(f)(at)), 1)
  # A loop keeps them, whatever it computes again.
  turns <- function(x) sum(hlo_scan(function(s, e) list(sin(needed(s) * e), NULL), x, x, checkpoint = TRUE)$carry)
  expect_identical(calls(function() xla_grad(turns)(at)), 2)
  expect_snapshot(error = TRUE, {
    xla_grad(f)(at)
    xla_jvp(f)(at, at)
    xla_checkpoint("f")
    xla_jit(function(x) xla_checkpoint(function(x) hlo_token())(x))(at)
    xla_jit(xla_checkpoint(function(x) "a"))(at)
  })
})
