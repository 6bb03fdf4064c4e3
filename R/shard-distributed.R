#' Several R processes as one
#'
#' @description
#' Each of several R processes calls `pjrt_distributed()` before anything else, and all of them get one client for the
#' CPU whose devices are those of all processes. A program over these devices is launched by every process, each with
#' its part of the data; where it needs the others' parts, the processes exchange them. Here the sum of data of two
#' processes, in the one with number 0:
#'
#' ```r
#' pjrt_distributed("127.0.0.1:29500", num_processes = 2, process_id = 0)
#' x <- xla_shard(c(1, 2), xla_mesh(c(data = 2)), "data", global_shape = 4)
#' as_array(xla_jit(function(x) sum(x), out_shardings = xla_spec())(x))
#' ```
#'
#' @section Joining:
#' Process 0 is the coordinator: it listens where `coordinator` says, and the others find each other through it. All
#' wait until all have come; Ctrl-C ends the wait, and the process may join again. Then each opens a port of its own at
#' `address`, by which the data are exchanged with gloo, and, until all are connected, another one for what they tell
#' each other at launches, where only who has heard a secret from the coordinator is let in. A session joins once,
#' before its first client, and stays until it ends or calls `pjrt_distributed_leave()`.
#'
#' Processes must be made afresh, as by `Rscript`, callr, mirai, `parallel::makeCluster()`, Slurm or MPI; children
#' forked by `parallel::mclapply()` are refused.
#'
#' `devices()` lists the devices of all processes, and `xla_mesh()` takes them; this process's data lie on its own
#' devices, which `"cpu"` without a number means. `xla_shard(local, mesh, spec, global_shape = )` makes an array of the
#' parts that the processes have.
#'
#' @section Programs:
#' Every process must compile and launch the same programs over several devices in the same order. Processes are
#' compared at each launch: one that launches another program (another text, other shapes, other constants), or the same
#' ones in another order, gets an error of class `xlaffi_error_unavailable`, and so do the others, before anything is
#' exchanged and in the same call. This is so as well where one process has caught an error and is behind. Programs in
#' which the devices exchange nothing run at once, and are compared with the next one that exchanges something.
#' Programs for one device of the own process are not compared.
#'
#' The ops that programs call are compared, too: those of [ffi_source()] and [ffi_elementwise()] by their code and the
#' options it is compiled with, those of [ffi_load()] and [ffi_routine()] by the file of the library, or, where it is a
#' package's, by the package's version. Of R functions ([ffi_callback()]) name and signature are compared, of what
#' [pjrt_register_custom_call()] has registered the name.
#'
#' @section Security: **Neither the coordinator nor gloo asks who is there, and nothing is encrypted.** Whoever can
#' reach one of these ports can read the data, change it, or end the computation. So by default everything listens on
#' the loopback (`127.0.0.1`) only, which other machines cannot reach, but all users of the same machine can. For
#' several machines use addresses of a network in which you trust everybody, such as a cluster's own, and never an
#' address that is open to the internet. Nothing ever listens on all addresses (`0.0.0.0`) unless you ask for it by
#' `bind_address`.
#'
#' @section Launchers:
#' What is not given is read from the environment; for each of the three the first counts that tells it:
#'
#' | launcher | variables | coordinator |
#' |---|---|---|
#' | any | `XLAFFI_COORDINATOR`, `XLAFFI_NUM_PROCESSES`, `XLAFFI_PROCESS_ID` | as it says |
#' | as JAX | `JAX_COORDINATOR_ADDRESS`, `JAX_NUM_PROCESSES`, `JAX_PROCESS_ID` | as it says |
#' | Open MPI | `OMPI_COMM_WORLD_SIZE`, `OMPI_COMM_WORLD_RANK` | on one machine the loopback, on several to be given |
#' | MPICH, Intel MPI | `PMI_SIZE`, `PMI_RANK` | to be given |
#' | Slurm (`srun`) | `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS` | the first node; with one node the loopback |
#'
#' So with MPI over several machines, or with MPICH, it is enough to name the coordinator:
#' `XLAFFI_COORDINATOR=node1:29500 mpirun -n 8 Rscript fit.R`.
#'
#' With Slurm and Open MPI the port is one from 61440 on that all processes compute from the job's number or name
#' (`SLURM_JOB_ID` and `SLURM_STEP_ID`, `PMIX_NAMESPACE`). Two jobs may come to the same port: the second coordinator
#' cannot listen there, and a process of another job is refused.
#'
#' @section When a process dies: A process that is killed, or whose machine is gone, ends the collectives that the
#' others wait in with an error of class `xlaffi_error_unavailable`; at once where its connections are closed, else
#' after `heartbeat_timeout`. From then on no program over several processes is launched, nor one over
#' several devices of the own process, which gloo carries too; programs on one device go on.
#' R itself always goes on: restart all processes to go on together. The same holds where a program over several
#' processes fails in one of them: what it would have sent is missing to the others. A process that has ended as it
#' should, or has left, is missed only by programs that need it; the coordinator by all programs over several
#' processes. One that leaves while a program over several processes is under way, as after Ctrl-C, counts as one that
#' is gone. What does not end by the loss of its connections within 5 seconds is given up with that error; the devices
#' of this process that it runs on are then not to be had any more.
#'
#' The first collective over a part of the mesh waits 30 seconds for the others, and so does every reduce-scatter
#' ([hlo_psum_scatter()]), as XLA has it; others wait `collective_timeout`.
#'
#' @param coordinator Where process 0 listens: `"host:port"`, with a port that is free there. `NULL`: from the
#'   environment.
#' @param num_processes How many processes there are. `NULL`: from the environment.
#' @param process_id The number of this process, from 0. `NULL`: from the environment.
#' @param ... Options for the client, as [pjrt_client()] takes them, such as `cpu_device_count`.
#' @param address The address of this machine at which the other processes reach it. `NULL`: the one by which it
#'   reaches the coordinator; where that is the loopback, the loopback.
#' @param bind_address Where process 0 listens if that is not `coordinator`, for instance behind a translation of
#'   addresses.
#' @param collectives Who carries the data: `"gloo"`, which XLA has built in, or `"mpi"` through MPItrampoline (the
#'   variable `MPITRAMPOLINE_LIB` names the file `libmpiwrapper.so`). MPI ends all processes where one fails, listens
#'   where it likes, and lets a process that leaves wait until all do.
#' @param startup_timeout Seconds within which all processes must have come. Where one comes that was given another
#'   number of processes, or runs other versions, all get an error at once.
#' @param heartbeat_timeout Seconds after which a process that gives no sign of life is taken for dead, at least 2. A
#'   process that is stopped (Ctrl-Z) gives none.
#' @param collective_timeout Seconds that a program waits for the other processes in a collective, and to launch its
#'   same program. XLA must know it when it is loaded.
#' @param job A name of what the processes compute together: processes that give different ones refuse each other.
#'   `NULL`: from the launcher where it tells `coordinator`, too, else none.
#' @return An object of class `xlaffi_distributed`, which prints who is there. `pjrt_distributed_status()` a data frame
#'   with a row for each process, `NULL` where this process is alone: `process` (its number), `here` (is it this one?),
#'   `state` (`"running"`, `"left"` or `"gone"`), `devices` (how many it has), `host`, `pid`, `address`, and `why` it
#'   is gone.
#' @seealso [xla_mesh()], [xla_shard()], [xla_shard_map()]
#' @examplesIf plugins_downloaded()
#' is.null(pjrt_distributed_status()) # this process is alone
#'
#' \donttest{
#' # Two processes, each with its part of the data
#' script <- tempfile(fileext = ".R")
#' writeLines(con = script, '
#'   library(xlaffi)
#'   arguments <- commandArgs(TRUE)
#'   me <- as.numeric(arguments[[2]])
#'   pjrt_distributed(arguments[[1]], num_processes = 2, process_id = me)
#'   x <- xla_shard(c(1, 2) + me, xla_mesh(c(data = 2)), "data", global_shape = 4)
#'   total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())(x)
#'   if (me == 0) print(as_array(total))
#'   pjrt_distributed_leave()
#' ')
#' place <- paste0("127.0.0.1:", sample(20000:30000, 1))
#' for (i in 1:0) system2(file.path(R.home("bin"), "Rscript"), c(script, place, i), wait = i == 0)
#' }
#' \dontrun{
#' # By hand: the same in two terminals, with process_id = 0 and 1
#' pjrt_distributed("127.0.0.1:29500", num_processes = 2, process_id = 0)
#' mesh <- xla_mesh(c(data = 2))
#' x <- xla_shard(rnorm(5), mesh, "data", global_shape = 10)
#' total <- xla_jit(function(x) sum(x), out_shardings = xla_spec())
#' as_array(total(x))
#'
#' # From one session, with callr
#' work <- function(i) {
#'   xlaffi::pjrt_distributed("127.0.0.1:29500", 2, i)
#'   mesh <- xlaffi::xla_mesh(c(data = 2))
#'   x <- xlaffi::xla_shard(c(1, 2) + i, mesh, "data", global_shape = 4)
#'   xlaffi::as_array(xlaffi::xla_jit(function(x) sum(x), out_shardings = xlaffi::xla_spec())(x))
#' }
#' running <- lapply(0:1, function(i) callr::r_bg(work, list(i)))
#' lapply(running, function(p) { p$wait(); p$get_result() })
#'
#' # With Slurm: `srun -n 8 Rscript fit.R`, where fit.R starts with
#' pjrt_distributed()
#' }
#' @export
pjrt_distributed <- function(coordinator = NULL, num_processes = NULL, process_id = NULL, ..., address = NULL,
                             bind_address = NULL, collectives = c("gloo", "mpi"), startup_timeout = 300,
                             heartbeat_timeout = 60, collective_timeout = 600, job = NULL) {
  call <- environment()
  refuse_joined(call)
  known <- launched()
  if (is.null(coordinator) && is.null(job)) {
    job <- known$job
  }
  given <- list(coordinator = coordinator, num_processes = num_processes, process_id = process_id)
  origin <- lapply(stats::setNames(nm = launch_names), function(name) {
    from <- known$launchers[[name]]
    if (is.null(given[[name]]) && !is.null(from)) sprintf(" (from %s)", from) else ""
  })
  given <- lapply(stats::setNames(nm = launch_names), function(name) {
    if (is.null(given[[name]])) known$values[[name]] else given[[name]]
  })
  for (name in launch_names) {
    if (is.null(given[[name]])) refuse_not_given(name, known$all, call)
  }
  check_string(given$coordinator, "coordinator", call)
  size <- launch_number(given$num_processes, "num_processes", 1, 1e5, origin$num_processes, call)
  number <- launch_number(given$process_id, "process_id", 0, size - 1, origin$process_id, call)
  options <- list(
    coordinator_address = given$coordinator, num_nodes = size, node_id = number,
    collectives = check_choice(collectives, "collectives", c("gloo", "mpi"), call),
    startup_timeout = launch_number(startup_timeout, "startup_timeout", 1, 1e6, "", call),
    heartbeat_timeout = launch_number(heartbeat_timeout, "heartbeat_timeout", 2, 1e6, "", call),
    collective_timeout = launch_number(collective_timeout, "collective_timeout", 1, 1e6, "", call)
  )
  for (name in c("address", "bind_address", "job")) {
    if (!is.null(get(name))) check_string(get(name), name, call)
  }
  options$host_address <- address
  options$bind_address <- bind_address
  options$job_name <- job
  options <- client_options("cpu", c(options, list(...)), call)
  in_time <- check(.Call(wrap__distributed_wait, options$collective_timeout), call)
  if (!in_time && !missing(collective_timeout)) {
    abort("`collective_timeout` comes too late: XLA has been loaded in this session", "FAILED_PRECONDITION",
      operand = "collective_timeout", call = call, hint = "Call `pjrt_distributed()` before anything else of xlaffi."
    )
  }
  note_flags("cpu")
  plugin <- pjrt_plugin("cpu")
  if (!is_included(plugin)) {
    abort("only the CPU plugin inside this package computes together with other processes",
      code = "UNIMPLEMENTED", call = call,
      hint = "`install_pjrt(\"jaxlib\")` brings what it needs; PJRT_PLUGIN_PATH_CPU names no other one then."
    )
  }
  joining <- .Call(wrap__distributed_join, plugin, "cpu", names(options), unname(options))
  keep_client(given_by_arguments(finish(joining, call)), "cpu")
  structure(
    list(process_id = number, num_processes = size, coordinator = given$coordinator),
    class = "xlaffi_distributed"
  )
}

# The plugin's options have names of PJRT's; errors tell of the arguments that they come from.
given_by_arguments <- function(code) {
  arguments <- c(
    coordinator_address = "coordinator", num_nodes = "num_processes", node_id = "process_id", host_address = "address",
    job_name = "job", bind_address = "bind_address"
  )
  tryCatch(code, xlaffi_error = function(error) {
    for (name in names(arguments)) {
      form <- sprintf("(option (?=`))?(`?)\\b%s\\b", name)
      error$message <- gsub(form, paste0("\\2", arguments[[name]]), error$message, perl = TRUE)
    }
    rlang::cnd_signal(error)
  })
}

refuse_joined <- function(call) {
  status <- mesh_status()
  if (!is.null(status)) {
    abort(
      sprintf("this session is process %d of %d already", status$process, length(status$host)), "ALREADY_EXISTS",
      call = call, hint = "A session joins once; `pjrt_distributed_status()` tells who is there."
    )
  }
  if (!is.null(host_state$clients$cpu)) {
    abort("the client for platform \"cpu\" exists: a session joins others before its first client",
      "FAILED_PRECONDITION",
      call = call, hint = "Call `pjrt_distributed()` in a new session, before anything else of xlaffi."
    )
  }
}

refuse_not_given <- function(name, launcher, call) {
  abort(
    sprintf("`%s` is not given, and %s", name, if (is.null(launcher)) {
      "the environment has no launcher's variables"
    } else {
      sprintf("%s does not tell it", launcher)
    }),
    operand = name, call = call,
    hint = if (name == "coordinator") {
      "Give `host:port` of process 0, or set XLAFFI_COORDINATOR for all processes."
    } else {
      "`?pjrt_distributed` has the variables that are read."
    }
  )
}

mesh_status <- function() check(.Call(wrap__distributed_status))

#' @rdname pjrt_distributed
#' @export
pjrt_distributed_status <- function() {
  status <- mesh_status()
  if (is.null(status)) {
    return(NULL)
  }
  data.frame(
    process = seq_along(status$host) - 1L, here = seq_along(status$host) - 1L == status$process,
    state = ifelse(!is.na(status$gone), "gone", ifelse(status$left == 1L, "left", "running")),
    devices = as.integer(status$devices), host = status$host, pid = as.integer(status$pid), address = status$address,
    why = status$gone
  )
}

#' @rdname pjrt_distributed
#' @export
pjrt_distributed_leave <- function() {
  check(.Call(wrap__distributed_leave))
  invisible()
}

#' @export
format.xlaffi_distributed <- function(x, ...) {
  check_format_dots(...)
  sprintf("process %d of %d, coordinator %s", x$process_id, x$num_processes, x$coordinator)
}

#' @export
print.xlaffi_distributed <- function(x, ...) {
  check_print_dots(...)
  cat("<xlaffi_distributed: ", format(x), ">\n", sep = "")
  status <- pjrt_distributed_status()
  for (i in seq_len(NROW(status))) {
    cat(process_line(status[i, ]), "\n", sep = "")
  }
  invisible(x)
}

process_line <- function(one) {
  sprintf(
    "  %d%s: %s on %s (pid %d), %d device%s%s", one$process, if (one$here) " (this one)" else "", one$state,
    one$host, one$pid, one$devices, if (one$devices == 1L) "" else "s",
    if (is.na(one$why)) "" else paste0(": ", one$why)
  )
}
