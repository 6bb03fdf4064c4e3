# Chains under way: each is a sequence of executions of the one program, of which several run at the same time.

# Compiles the program of a model. `generated` is the user's function of further numbers of each draw.
compile_sampler <- function(model, generated, settings) {
  system <- list(
    metric = metrics[[settings$metric]], max_treedepth = settings$max_treedepth, size = model$size, dtype = model$dtype
  )
  state <- initial_state(system$metric, model$size, model$dtype)
  seen <- new.env(parent = emptyenv())
  count <- length(tree_leaves(model$types))
  program <- function(...) {
    arguments <- list(...)
    values <- Map(labelled, arguments[seq_len(count)], lapply(tree_leaves(model$data), data_labels))
    data <- tree_fill(model$types, unname(values))
    rest <- arguments[count + seq_len(length(arguments) - count)]
    leaves <- rest[seq_along(state$leaves)]
    control <- stats::setNames(beyond(rest, length(leaves)), control_names)
    control$key <- hlo_fold_in(control$key, control$chain)
    control$generated_key <- hlo_fold_in(control$key, 0L)
    system$at <- density_and_gradient(function(q) model$density(q, data))
    system$kept_numbers <- kept_numbers(model, generated, data, seen)
    system$has_generated <- !is.null(generated)
    system$kept_size <- length(silently(function() system$kept_numbers(leaves_position(leaves, state), control$key)))
    chain_program(system, unname(leaves), state$types, state$groups, control)
  }
  device <- sampler_device(model$data)
  data_types <- lapply(tree_leaves(model$types), function(type) {
    new_type(data_dtype(type@dtype, model$dtype), type@shape)
  })
  state_types <- lapply(state$groups, function(names) group_type(state$types[names]))
  types <- c(data_types, state_types, control_types(model, settings$rows))
  began <- proc.time()[["elapsed"]]
  call <- new_call(program, types, device, "sampler", module = "xlaffi_loops")
  list(
    call = call, state = state, device = device, generated = seen$form,
    compile_time = proc.time()[["elapsed"]] - began
  )
}

# What an execution is told beside the state: how many draws it makes, with the flags of each, and settings
control_names <- c("flags", "turns", "target", "radius", "center", "chain", "key")

control_types <- function(model, rows) {
  list(
    new_type("i32", rows), new_type("i32", integer()), new_type("f64", integer()), new_type("f64", integer()),
    new_type(model$dtype, model$size), new_type("i32", integer()), new_type("ui32", 2L)
  )
}

group_type <- function(types) {
  one <- types[[1L]]
  if (length(types) == 1L) one else new_type(one@dtype, c(length(types), one@shape))
}

# The position in the packed state
leaves_position <- function(leaves, state) ungrouped(unname(leaves), state$types, state$groups)$q

sampler_device <- function(data) {
  leaves <- tree_leaves(data)
  if (!is.null(mesh_of_data(leaves))) {
    abort("xla_sample: the data must not be sharded: a chain runs on one device", "UNIMPLEMENTED", operand = "...",
      call = NULL
    )
  }
  buffers <- Filter(function(leaf) inherits(leaf, "xlaffi_buffer"), leaves)
  if (length(buffers)) device(buffers[[1L]]) else default_device()
}

upload_leaves <- function(data, dtype, device) {
  lapply(tree_leaves(data), function(leaf) {
    if (is_on_device(leaf)) {
      return(leaf)
    }
    check <- is.object(leaf) || !is.double(leaf)
    pjrt_buffer(leaf, data_dtype(r_dtype(leaf), dtype), device, check = check)
  })
}

# A sampler of this session: the compiled program with its data on the device. What comes back from a file is compiled
# and uploaded anew.
ready_sampler <- function(sampler) {
  if (!isTRUE(.Call(wrap__identity_is_here, sampler$identity))) {
    sampler$compiled <- compile_sampler(sampler$model, sampler$generated, sampler$settings)
    compiled <- sampler$compiled
    sampler$data <- upload_leaves(sampler$model$data, sampler$model$dtype, compiled$device)
    sampler$identity <- .Call(wrap__identity_new)
  }
  sampler
}

# Starts an execution of `turns` draws with the given flags; gives a run, or its results.
start_execution <- function(sampler, chain, flags, turns) {
  compiled <- sampler$compiled
  device <- compiled$device
  rows <- sampler$settings$rows
  state <- Map(function(x, names) {
    type <- group_type(compiled$state$types[names])
    if (inherits(x, "xlaffi_buffer")) x else pjrt_buffer(x, type@dtype, device, shape = type@shape)
  }, chain$state, compiled$state$groups)
  flags <- as.integer(c(flags, integer(rows - length(flags))))
  control <- list(
    pjrt_buffer(flags, "i32", device, shape = rows), pjrt_scalar(as.integer(turns), "i32", device),
    pjrt_scalar(sampler$settings$target_accept, "f64", device), pjrt_scalar(chain$radius, "f64", device),
    pjrt_buffer(chain$center, sampler$model$dtype, device, shape = length(chain$center)),
    pjrt_scalar(chain$number, "i32", device),
    pjrt_buffer(sampler$key, "ui32", device, shape = 2L)
  )
  arguments <- c(sampler$data, unname(state), control, compiled$call$hidden)
  .Call(wrap__executable_launch, compiled$call$program$executable, arguments)
}

# What an execution that was started is within `seconds`: the run that it was, the buffers of its results, or these with
# the mark that they are there. XLA may give buffers before the program is through.
polled <- function(run, seconds) {
  if (inherits(run, "xlaffi_launched")) {
    found <- .Call(wrap__run_wait, run[[1L]], seconds)
    print_waiting()
    if (is.null(found)) {
      return(run)
    }
    run <- found
  }
  buffers <- if (inherits(run, "xlaffi_executed")) unclass(run) else check(run, NULL)
  there <- check(.Call(wrap__buffer_wait, buffers[[1L]], seconds), NULL)
  print_waiting()
  if (isTRUE(there)) structure(buffers, class = "xlaffi_there") else buffers
}
