#' Compile a function of values
#'
#' @description
#' `xla_jit(f)` gives a function that writes `f` down as a StableHLO program, compiles it and runs it:
#'
#' ```r
#' norm <- xla_jit(function(x) sqrt(sum(x^2)))
#' norm(c(3, 4))
#' ```
#'
#' It is traced and compiled once per signature: the dtypes and shapes of the arguments. What `f` reads besides its
#' arguments is fixed in the program; the next call after such a variable was given another value makes another
#' program. R's `if` and `for` decide, while the program is written, what it contains.
#'
#' @section Arguments and results:
#' R data are passed on in R's own precision: doubles as `f64`, integers `i32`, logicals `pred`, complex numbers `c128`.
#' A vector without dimensions has shape (n). Arguments may be lists of data, and sparse matrices of the package
#' \pkg{Matrix}, see [hlo_sparse()].
#'
#' With R data alone the results are R data: what has two or more axes an array, what has none or one a vector without
#' dimensions (an array of one axis, if an argument is one). With a buffer among the arguments they are buffers; with a
#' [value][xlaffi_value] they are values: inside another such function, `f` is written out (also when its arguments
#' there are R data alone). A function that returns nothing (`NULL`, an empty list) gives `NULL`, invisibly.
#'
#' Beside buffers one R number without dimensions takes the dtype of the first buffer that has numbers of its kind: a
#' double that of floating-point or complex numbers, an integer that of integers. The program runs on the device of the
#' first buffer, or on the default one.
#'
#' @section What `f` reads:
#' Variables are looked up as they are named in `f` and in the functions and methods of yours that it calls, and so are
#' the fields of environments and of objects made of them, if there are not more than 1000, and the variables of
#' formulas and calls that `f` uses. What `f` reads while it is traced by `get()`, `exists()`, `eval()`, `with()`, `$`,
#' `[[`, `ls()` and the like is noticed by any name and in any environment of the session; so is what `getOption()`,
#' `options()`, `Sys.getenv()`, `getwd()` and `Sys.getlocale()` give. Numbers are compared bit by bit: 0 is not -0.
#' Methods of S3 and S4 for the classes of what `f` reads, or gives a class itself, are noticed when they come, change
#' or go, also where R's functions call them, as `nrow()` calls `dim()`; for R's own classes, as data frames, where `f`
#' names the generic.
#' Not noticed is what functions of other packages read by themselves, what `f` itself assigns by `<<-`, or to fields,
#' another environment around one (`parent.env<-`), and what code in C changes within an array that `f` reads, as
#' data.table's `:=` does: give such an array as an argument.
#'
#' Clocks, files, connections, other processes and R's random numbers are refused, as they would be read once. So is
#' `parent.frame()` of `f` itself, which is another environment in each call.
#'
#' Arrays from 512 elements on are not written into the program: they are uploaded once and passed to each run. So
#' functions that differ in these only share a program. Equal functions share one, too, and what was compiled is kept on
#' disk for later sessions ([xla_cache()]). Functions can be saved, and sent to other processes: there they are traced
#' and compiled anew.
#'
#' @section Loops:
#' A `for` loop of more than 50 turns, whose turns do the same with other numbers, is traced four times, however long it
#' is, if its code is made of R's arithmetic, mathematics, densities, matrix products and solvers of equations, of
#' indices (also by values, as in `u[group[i]]`), of `if` and inner loops over numbers that are known, and of functions
#' of yours with such code: 10,000 observations take about as long to trace as 100. Sums to which turns only add are
#' taken behind the loop, in another order than R's (not with `exact = TRUE`), and turns that take nothing of one
#' another are computed side by side.
#'
#' Other loops, `while`, `sapply()`, `Reduce()` and the like are traced turn by turn, some 0.1 ms an operation. Turns
#' that are equal become one loop of the program, as [hlo_scan()] makes it, with its derivatives and batches: the same
#' operations in the same order, of the same values, of what came of turns before, of what was computed before the loop,
#' of numbers that may differ, and of parts of an array at places that may differ. It takes six turns and 64 operations,
#' 512 where a turn has five or less, and 2048 where arrays have more than 1024 elements.
#'
#' Where R's `if`, `next` or `switch()` make turns of up to eight kinds, as for observations that are missing or
#' censored, the loop has a branch for each kind, as [hlo_case()] makes it, if that leaves out at least three quarters
#' of the turns' operations. Such turns are those of `for`, `while` and `repeat`, and of functions that are written
#' within a call of `lapply()`, `sapply()`, `vapply()`, `mapply()`, `Map()` or `Reduce()`. Otherwise the equal ones
#' between those that differ become loops. Turns that take nothing of one another are computed side by side.
#'
#' So it is in functions that loops, branches, checkpoints and solvers of the program call. Turns that call solvers, as
#' [integrate()] or [uniroot()] for each observation, are such turns where the solver's function does the same in all
#' of them, in a loop of any length; [xla_vmap()] is traced once for all, and quicker. Calls with side effects, turns
#' that hold another loop or branch of the program, and programs for several devices stay as they are written;
#' `hlo_scan()` and [hlo_fori()] are loops of the program always.
#'
#' Of more than 500 operations in a row, all of them on few elements, XLA neither fuses nor optimises any: the last bit
#' of a result may differ from that of the same operations in a shorter program.
#'
#' @section Sharded arrays:
#' With a [sharded array][xla_shard] among the arguments the program runs on all devices of its mesh. XLA parts the
#' work and adds the communication; the results are sharded arrays. Other arguments, R data and buffers, are
#' copied to every device, unless `in_shardings` cuts them. Shapes in `f` are those of whole arrays. All sharded
#' arguments lie on one mesh.
#'
#' `in_shardings` and `out_shardings` say along which axes of the mesh arguments and results are cut: one
#' specification ([xla_spec()]) for all of them; or a list with one for each, nested where arguments are lists; named,
#' it may leave out arguments. NULL: arguments as they come, results as XLA chooses. What XLA chooses and no
#' specification describes (half of an axis, say) is asked for whole on every device, for which the program is
#' compiled once more. An argument that is sharded otherwise is refused. With one of both given results stay sharded
#' arrays also when all arguments are R data.
#'
#' As a part of another program the function keeps its shardings, as [hlo_shard()] would: so derivatives and batches
#' of it are computed where it is. Custom calls, ops of your own and linear algebra ([xla_chol()] and its like) are
#' computed by every device on whole arrays, which XLA gathers before: that is right, but not parallel, and an R
#' function ([ffi_callback()]) is called once by each device. Calls with side effects are made once, by the first one.
#' Inside [xla_shard_map()] each device computes with its own part.
#'
#' @param f A function of [values][xlaffi_value] that gives a value or a (named) list of values.
#' @param exact Whether each operation is computed as it is written. XLA otherwise multiplies by `1 / 3` for `x / 3`,
#'   takes constants together and fuses `x * y + z`, which may change the last bit, for speed; [xlaffi_value] has the
#'   list. With `exact = TRUE`, `+`, `-`, `*`, `/` and `sqrt()` of doubles give R's results bit for bit; sums may still
#'   be added up in another order. For the CPU. As a part of another program a function is compiled as that one is.
#' @param mesh A mesh, see [xla_mesh()]; `NULL`: that of the sharded arguments, if there are any.
#' @param in_shardings,out_shardings Along which axes of the mesh arguments and results are cut, see below.
#' @return A function of R data, buffers, sharded arrays or values. It has `...` for the arguments of `f`: what looks at
#'   a function's formals, as [Vectorize()] does, sees no others.
#' @seealso [xla_program()] shows the program, [xla_cache()] what is compiled; [ffi_op()],
#'   [xla_jvp()], [xla_vjp()].
#' @examplesIf plugins_downloaded()
#' norm <- xla_jit(function(x) sqrt(sum(x^2)))
#' norm(c(3, 4))
#' norm(pjrt_buffer(c(3, 4), "f32"))
#'
#' # On a mesh of devices, here of one
#' mesh <- xla_mesh(c(data = 1))
#' norm(xla_shard(c(3, 4), mesh, "data"))
#' xla_jit(function(x, b) x %*% b, mesh = mesh, in_shardings = list(x = "data"))(diag(2), c(1, 2))
#' @export
xla_jit <- function(f, exact = FALSE, mesh = NULL, in_shardings = NULL, out_shardings = NULL) {
  if (!is.function(f)) {
    abort(sprintf("`f` must be a function, not %s", describe(f)), operand = "f")
  }
  check_flag(exact, "exact")
  if (!is.null(mesh)) check_mesh(mesh)
  check_spec_tree(in_shardings, "in_shardings")
  check_spec_tree(out_shardings, "out_shardings")
  shardings <- if (!is.null(mesh) || !is.null(in_shardings) || !is.null(out_shardings)) {
    list(mesh = mesh, inputs = in_shardings, outputs = out_shardings, strict = TRUE)
  }
  new_jit(f, "function", exact = exact, shardings = shardings)
}

# `name` is what xla_cache() calls it; `uses` are the functions of the user behind `f`. What tells the function
# from others, `identity`, is an external pointer: R saves those as NULL, so a function that comes back from a
# file or another process is a new one there. Nothing else of the session is kept in it. `shardings` says where
# arguments and results lie, see jit-mesh.R; `part` is what the function is as a part of another program. `lasting`
# gives a digest of all that its trace depends on, by which other sessions find it, or NULL; see jit-lasting.R. With
# `varies` only that argument, by its number, is another one call after call; see jit-terms.R.
new_jit <- function(f, name, uses = list(f), exact = FALSE, shardings = NULL, part = f, lasting = NULL,
                    varies = NULL) {
  force(f)
  force(exact)
  force(shardings)
  force(part)
  force(name)
  force(uses)
  force(lasting)
  force(varies)
  identity <- NULL
  self <- environment()
  compiled <- function(...) {
    arguments <- list(...)
    # While a program is being written, this becomes a part of it.
    result <- run_known(identity, arguments)
    if (is.null(result)) called(self, arguments, environment()) else result
  }
  structure(compiled, class = c("xlaffi_jit", "function"))
}

# A call that run_known() knows nothing of
called <- function(self, arguments, env) {
  key <- if (!is_tracing()) .Call(wrap__signature, self$identity, arguments)
  call <- if (!is.null(key)) jit_state$calls[[key]]
  if (is.null(call) || changed(call$captured) || !same_names(call, arguments)) {
    return(run_new(self, arguments, env))
  }
  run_again(call, arguments)
}

# Compiled functions and ops of the package's own, each made at its first use: they hold their programs,
# which belong to a session.
made <- new.env(parent = emptyenv())

made_once <- function(key, make) {
  found <- made[[key]]
  if (is.null(found)) {
    found <- make()
    made[[key]] <- found
  }
  found
}

# The function as a part of the program that is being written
inlined <- function(self, arguments, env) {
  names <- names2(arguments)
  names[!nzchar(names)] <- which(!nzchar(names))
  values <- Map(function(argument, name) tree_map(argument, as_value, name, call = env), arguments, names)
  if (isTRUE(self$shardings$strict)) {
    return(inlined_sharded(self, values, env))
  }
  named_arguments(self$part, values)
  call_written(self$part, values)
}

# Beside buffers one R number without dimensions takes the dtype of the first that has numbers of its kind.
adapted <- function(types, leaves, buffers) {
  own <- tree_leaves(types)
  like <- vapply(own[buffers], function(type) type@dtype, "")
  tree_fill(types, Map(function(type, x) {
    found <- dtype_beside(x, like)
    if (is.null(found)) type else new_type(found, type@shape)
  }, own, leaves))
}

dtype_beside <- function(x, like) {
  if (is.numeric(x) && !is.object(x) && length(x) == 1L && is.null(dim(x))) {
    Find(if (is.double(x)) is_inexact else is_integer, like)
  }
}

# `f` traced for arguments of these types: `program`, which equal functions share; the device; `dtypes`, in which R
# data are passed on; `form`, `names` and `results`, of which the value is made; `constants`, of which `hidden` are the
# arguments of a run that the user does not give; `terms`, see jit-terms.R, if some arguments are `fixed`. `module`
# names the program, which says how it is compiled.
new_call <- function(f, types, device, name, exact = FALSE, placed = NULL, shardings = NULL, leaves = list(NULL),
                     module = NULL, fixed = NULL) {
  # Arguments that `f` does not have are told of before it is called.
  parameters <- parameter_names(f, types)
  labels <- lapply(unname(leaves), data_labels)
  labels_of <- if (length(labels)) labels else list(NULL)
  traced <- trace_program(f, types, platform(device), placed$mesh, labels_of, isTRUE(exact))
  results <- traced$results
  layout <- program_layout(traced, placed, shardings)
  # Processes compare the texts of their programs, where constants are to be seen.
  hidden <- is.null(layout) || length(layout$mesh$local) == mesh_size(layout$mesh)
  constants <- NULL
  apart <- if (is.null(layout) && !is.null(fixed)) fixed_terms(traced$region, fixed)
  # Results that stay on the device are used with buffers of the user's.
  if (!is.null(traced$present) && identical(device, host_state$synchronous)) device <- default_device()
  compiled <- function(layout) {
    written <- written_program(traced$region, layout, platform(device), hidden, apart)
    constants <<- written$constants
    text <- if (isTRUE(exact)) exact_text(written$text, device) else written$text
    # A kind that the program has of itself counts more.
    if (!is.null(module)) text <- sub("^module @main ", sprintf("module @%s ", module), text)
    compiled_program(text, device, name, types, layout$mesh)
  }
  program <- compiled(layout)
  if (!is.null(layout)) {
    layout <- settled_layout(layout, program, traced, types)
    layout$stays <- isTRUE(shardings$strict) && !is.null(c(shardings$inputs, shardings$outputs))
    if (!layout$chosen) program <- compiled(layout)
  }
  constants <- uploaded_constants(constants, device, layout)
  terms <- terms_call(traced$region, apart, fixed, device, name, types)
  dtypes <- lapply(c(tree_leaves(types), terms$types, lapply(constants, `[[`, "type")), function(type) type@dtype)
  list(
    program = program, terms = terms, device = device, dtypes = dtypes, form = result_form(results),
    names = names(results), results = results, layout = layout,
    labels = leaf_labels(stats::setNames(types, parameters)),
    known_names = if (traced$names_read) labels, constants = constants, hidden = lapply(constants, `[[`, "argument"),
    present = traced$present
  )
}

# A program says by the name of its module how it is to be compiled.
exact_text <- function(text, device) {
  if (platform(device) != "cpu") {
    abort(sprintf("`exact = TRUE` is for the CPU, not for %s", format(device)), "UNIMPLEMENTED",
      operand = "exact", call = NULL
    )
  }
  sub("^module @[a-z_]+ ", "module @xlaffi_exact ", text)
}

result_form <- function(results) {
  if (is_type(results)) {
    "one"
  } else if (has_sparse(results)) {
    "sparse"
  } else if (!length(results)) {
    "none"
  } else {
    if (all(vapply(results, is_type, NA))) "list" else "tree"
  }
}

compiled_program <- function(text, device, name, types, mesh = NULL) {
  digest <- text_digest(text)
  place <- if (is.null(mesh)) device_key(device) else mesh$key
  types <- types_text(tree_leaves(types))
  known_program(digest, place, name, types, function() {
    options <- if (is.null(mesh)) new_compile_options() else mesh_options(mesh)
    c(list(text = text), made_executable(text, device, name, types, options, digest))
  })
}

# The program whose text has this digest, if it is on disk; else NULL
saved_program <- function(digest, device, name, types) {
  known_program(digest, device_key(device), name, types, function() saved_executable(digest, device))
}

# One that this session has, or that `make()` gives
known_program <- function(digest, place, name, types, make) {
  key <- paste(digest, place)
  program <- jit_state$programs[[key]]
  if (is.null(program)) {
    made <- make()
    if (is.null(made)) {
      return(NULL)
    }
    program <- list2env(c(list(name = name, types = types, key = key, digest = digest), made), parent = emptyenv())
    remember_program(program)
  }
  .Call(wrap__executable_use, program$executable)
  program
}

#' @export
print.xlaffi_jit <- function(x, ...) {
  check_print_dots(...)
  cat("<function of R data, buffers and values, compiled by XLA>\n")
  invisible(x)
}
