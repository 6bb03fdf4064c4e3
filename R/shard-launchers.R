# What a launcher tells each of its processes in environment variables: how many there are, which one this is, and
# where the first of them can be reached. `NULL` where nothing is known. Arguments of pjrt_distributed() come first.

launch_names <- c("coordinator", "num_processes", "process_id")

# What is said plainly goes before what launchers tell, one by one: so a coordinator can be named to processes that MPI
# has numbered.
launched <- function() {
  known <- list(
    launched_plainly("XLAFFI_", "XLAFFI_COORDINATOR"), launched_plainly("JAX_", "JAX_COORDINATOR_ADDRESS"),
    launched_by_launcher()
  )
  known <- Filter(Negate(is.null), known)
  if (!length(known)) {
    return(NULL)
  }
  found <- lapply(stats::setNames(launch_names, launch_names), function(name) {
    from <- Find(function(one) !is.null(one[[name]]), known)
    if (!is.null(from)) list(value = from[[name]], launcher = from$launcher, job = from$job)
  })
  list(
    values = lapply(found, `[[`, "value"), launchers = lapply(found, `[[`, "launcher"),
    # The name of a job belongs to the coordinator that it names.
    job = found$coordinator$job, all = toString(vapply(known, `[[`, "", "launcher"))
  )
}

launched_plainly <- function(prefix, coordinator) {
  names <- stats::setNames(c(coordinator, paste0(prefix, c("NUM_PROCESSES", "PROCESS_ID"))), launch_names)
  known <- Filter(Negate(is.null), lapply(names, environment_text))
  if (length(known)) c(list(launcher = sprintf("the environment (%s)", toString(names[names(known)]))), known)
}

# The innermost: in an allocation of Slurm's mpirun starts its own helpers by srun, and the numbers that Slurm gave
# these are not those of the processes. Where srun speaks MPICH's language, both tell the same, and Slurm tells more.
launched_by_launcher <- function() {
  open_mpi <- launched_by_open_mpi()
  pmi <- launched_by_pmi()
  slurm <- launched_by_slurm()
  numbers <- c("num_processes", "process_id")
  if (!is.null(open_mpi)) {
    open_mpi
  } else if (is.null(pmi) || identical(pmi[numbers], slurm[numbers])) {
    slurm
  } else {
    pmi
  }
}

# Inside `srun` the step's variables; those of the allocation alone (`sbatch` without `srun`) launch nothing.
launched_by_slurm <- function() {
  id <- environment_text("SLURM_PROCID")
  size <- environment_text("SLURM_STEP_NUM_TASKS")
  size <- if (is.null(size)) environment_text("SLURM_NTASKS") else size
  if (is.null(id) || is.null(size) || is.null(environment_text("SLURM_STEP_ID"))) {
    return(NULL)
  }
  nodes <- environment_text("SLURM_STEP_NODELIST")
  nodes <- if (is.null(nodes)) environment_text("SLURM_JOB_NODELIST") else nodes
  job <- paste0(environment_text("SLURM_JOB_ID"), ".", environment_text("SLURM_STEP_ID"))
  first <- first_host(nodes)
  alone <- identical(environment_text("SLURM_STEP_NUM_NODES"), "1") || is.null(first)
  list(
    launcher = "Slurm", coordinator = paste0(if (alone) "127.0.0.1" else first, ":", launch_port(job)),
    num_processes = size, process_id = id, job = job
  )
}

launched_by_open_mpi <- function() {
  size <- environment_text("OMPI_COMM_WORLD_SIZE")
  if (is.null(size)) {
    return(NULL)
  }
  local <- environment_text("OMPI_COMM_WORLD_LOCAL_SIZE")
  job <- environment_text("PMIX_NAMESPACE")
  job <- if (is.null(job)) environment_text("OMPI_MCA_ess_base_jobid") else job
  list(
    launcher = "Open MPI", num_processes = size, process_id = environment_text("OMPI_COMM_WORLD_RANK"),
    coordinator = if (identical(local, size) && !is.null(job)) paste0("127.0.0.1:", launch_port(job)), job = job
  )
}

# MPICH, Intel MPI and others of that family; their variables name no job.
launched_by_pmi <- function() {
  size <- environment_text("PMI_SIZE")
  if (!is.null(size)) {
    list(launcher = "PMI (MPICH, Intel MPI)", num_processes = size, process_id = environment_text("PMI_RANK"))
  }
}

environment_text <- function(name) {
  text <- Sys.getenv(name)
  if (nzchar(text)) text
}

# The first host of a list as Slurm writes it: "a", "a,b", "node[003-005,9],x", "r[1-2]n[1-4]".
first_host <- function(nodes) {
  if (is.null(nodes)) {
    return(NULL)
  }
  inside <- cumsum(strsplit(nodes, "")[[1L]] == "[") > cumsum(strsplit(nodes, "")[[1L]] == "]")
  comma <- which(strsplit(nodes, "")[[1L]] == "," & !inside)
  first <- if (length(comma)) substr(nodes, 1L, comma[[1L]] - 1L) else nodes
  gsub("\\[([0-9]+)[^]]*\\]", "\\1", first)
}

# A port that all processes of a job compute alike, among those that systems give to nobody else by default.
launch_port <- function(job) {
  codes <- utf8ToInt(job)
  61440L + as.integer(Reduce(function(hash, code) (hash * 31 + code) %% 4096, codes, 0))
}

# One whole number of an argument or of a variable.
launch_number <- function(x, name, from, to, where, call) {
  number <- if (is.character(x) && length(x) == 1L && grepl("^[0-9]+$", x)) as.numeric(x) else x
  good <- is.numeric(number) && length(number) == 1L && !is.na(number) && number == trunc(number)
  if (!good || number < from || number > to) {
    abort(
      sprintf("`%s` must be a whole number from %d to %d, not %s%s", name, from, to, describe(x), where),
      operand = name, call = call
    )
  }
  as.integer(number)
}
