# Compiled functions: programs by what they are, calls by signature; how many calls there were. The last call of a
# function of linear algebra, which asks for no signature if it comes again. `known` has of calls what wrap__call_again
# needs.
jit_state <- session_state("jit_state",
  programs = new.env(parent = emptyenv()), calls = new.env(parent = emptyenv()), known = new.env(parent = emptyenv()),
  made = 0, ran = NULL
)

#' Compiled functions and compiled code
#'
#' What [xla_jit()], [ffi_op()], [ffi_call()] and the like have compiled is kept, so that the next call with
#' arguments of the same dtypes and shapes runs at once, and on disk, so that the next session need not compile it;
#' what [ffi_source()] has compiled is kept on disk as well. `xla_cache()` lists it, `xla_cache_clear()` forgets it.
#'
#' @details
#' # Programs
#' At most `getOption("xlaffi.cache_size", 512)` programs are kept in a session; the one that was not used for the
#' longest time makes place for a new one. What was forgotten is made again when it is needed. Functions that come to
#' the same program share it; a function that gets R data alone and one that gets buffers do not, see `asynchronous` in
#' [pjrt_client()].
#'
#' # Programs on disk
#' What was compiled lies in `tools::R_user_dir("xlaffi", "cache")`, or in the folder that the option
#' `xlaffi.program_cache` or the environment variable `XLAFFI_PROGRAM_CACHE` names;
#' `options(xlaffi.program_cache = FALSE)`, or the variable set to `off`, `0`, `no` or `false`, turns that off; `TRUE`
#' is the default again, whatever the variable turns off.
#'
#' A program is found by a digest of its text, the device, the version of the plugin and of jaxlib, the processor and
#' the number of its threads, the environment variable `XLA_FLAGS`, and this package as it is installed: where one of
#' them changes, it is compiled anew. It is used only if it is the user's own, nobody else can write it, and its digest
#' is the one that was written down; whatever else is wrong with it, it is compiled. Beyond
#' `getOption("xlaffi.program_cache_size", 256 * 2^20)` bytes those that were not used for the longest time go (seen to
#' once in a while); a program of more than an eighth of that is not kept (one with the patterns of sparse matrices of
#' 10^4 rows has some 15 MB). Small constants of a program are in there: data of less than 512 elements that a function
#' reads besides its arguments. Several sessions may use the folder at once.
#'
#' Not kept on disk are programs that call R functions ([ffi_callback()]) or print (`print_tensor`), whose calls are in
#' order (`has_side_effect = "ordered"`), or which call JAX's LAPACK targets by name; and any while `XLA_FLAGS` names a
#' file, asks for a dump or is not what it was when XLA read it, once, before the session's first program.
#' [pjrt_compile()] always compiles; [pjrt_serialize()] is for what it makes.
#'
#' # Traces on disk
#' To write a program down takes R as long as to compile it. So what tracing gave for an objective ([xla_objective()],
#' and fits of it) lies there, too, and a script that is run again calls its function only if something is different. It
#' is found by a digest of the function and the functions that it calls, by code, of all variables that they read and of
#' the parameters, bit by bit with types and attributes, of the data's types, of R, this package and \pkg{Matrix} as
#' they are installed, of attached packages, of options, locale and the environment variables of XLA. Where a sparse
#' Hessian rests on some of the data, such as the groups of rows, all data belong to the digest, and these are in the
#' file; so is what of 512 elements or more the function reads besides its arguments. For each dtype and shape that
#' [xla_svd()] and other functions of linear algebra were called with lies there what tracing gave.
#'
#' Traced in each session are functions of which that is not certain: those that call other functions of R than the
#' supported ones and some that plainly compute, functions of other packages, or compiled functions and ops; that give
#' `lapply()` and the like a function whose name is computed; that read environments, active bindings, objects of other
#' classes, or `...` of the function around them; that look at the session (`getOption()`, `get()`, `eval()`) or do
#' something besides (`<<-`, `print()`, `cat()`, warnings); all where S4 classes or methods are defined in the global
#' environment, or S3 methods have been registered by hand; objectives with
#' `constraints`; and where the data belong to the digest, those with buffers or with more than 64 MiB. Nobody notices
#' functions that were replaced inside of a package's namespace, unless `f` calls them itself: turn the programs on disk
#' off where you do that.
#'
#' # Code
#' It lies in `tools::R_user_dir("xlaffi", "cache")`, or in the folder that the option `xlaffi.code_cache` or the
#' environment variable `XLAFFI_CODE_CACHE` names: a folder for each digest of source, included local files, flags,
#' compiler and, for code made for this processor only, processor. Code is loaded if its folder and files belong to
#' the user, nobody else can write them, and its digest is the one that was written down; else it is compiled again.
#' Where the folder cannot be used, code is kept for the session, and a message says why. Beyond
#' `getOption("xlaffi.code_cache_size", 256 * 2^20)` bytes the code that was not used for the longest time goes.
#' Several sessions may use the folder at once.
#'
#' While a package is checked (`R CMD check`), both lie in the session's temporary folder, unless one is named.
#'
#' @param what `"programs"` of this session, those that are `"saved"` on disk, or `"code"` on disk.
#' @return `xla_cache()` a data frame, what was used last first: of programs `name` (of the op, or `"function"`),
#'   `arguments`, `device`, `program`, the StableHLO text, and `saved`, the folder on disk or NA; of what is saved and
#'   of code `name`, `bytes`, `used` and `folder`. `xla_cache_clear()` how many there were, invisibly; with `"programs"`
#'   it forgets those of the session, and what is saved too, unless that is turned off; with `"saved"` those in the
#'   folder that there would be as well.
#' @examplesIf plugins_downloaded()
#' xla_jit(function(x) x + 1)(c(1, 2))
#' xla_cache()[1, c("name", "arguments")]
#' xla_cache_clear()
#' nrow(xla_cache())
#' @export
xla_cache <- function(what = c("programs", "saved", "code")) {
  what <- check_choice(what, "what", c("programs", "saved", "code"))
  if (what != "programs") {
    return(cache_entries(if (what == "code") hooks$code_folder() else program_folder()))
  }
  programs <- as.list(jit_state$programs)
  programs <- unname(programs[order(last_uses(), decreasing = TRUE)])
  column <- function(field) vapply(programs, function(program) program[[field]], "")
  data.frame(
    name = column("name"), arguments = column("types"),
    device = vapply(programs, function(program) toString(vapply(devices(program$executable), format, "")), ""),
    program = column("text"), saved = column("saved")
  )
}

#' @rdname xla_cache
#' @export
xla_cache_clear <- function(what = c("programs", "saved", "code")) {
  what <- check_choice(what, "what", c("programs", "saved", "code"))
  if (what == "code") {
    return(invisible(hooks$clear_code()))
  }
  if (what == "saved") {
    return(invisible(clear_saved()))
  }
  clear_cache(program_folder())
  count <- length(jit_state$programs)
  for (signature in ls(jit_state$programs)) {
    forget_program(jit_state$programs[[signature]])
  }
  invisible(count)
}

# XLA maps the code of a program into memory in up to some hundred pieces. Linux lets a process have 65,530 of all
# kinds, and beyond them LLVM ends R. So where half of them are there, those programs are forgotten that were not used
# for longest, and R collects what it has not collected yet. Every 32nd program looks after it.
make_room_for_code <- function(maps) {
  if (is.null(maps) || maps$count < maps$limit / 2) {
    return(invisible(FALSE))
  }
  used <- sort(last_uses())
  for (key in names(used)[seq_len(length(used) %/% 2L)]) {
    forget_program(jit_state$programs[[key]])
  }
  gc()
  invisible(TRUE)
}

# When each program ran last or was asked for, in a count of all runs
last_uses <- function() {
  vapply(as.list(jit_state$programs), function(program) .Call(wrap__executable_used, program$executable), 0)
}

remember_program <- function(program) {
  jit_state$made <- jit_state$made + 1
  if (jit_state$made %% 32 == 0) make_room_for_code(.Call(wrap__memory_maps))
  limit <- getOption("xlaffi.cache_size", 512)
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit) || limit < 1) {
    abort(sprintf("the option `xlaffi.cache_size` must be a number from 1, not %s", describe(limit)),
      operand = "xlaffi.cache_size", call = NULL
    )
  }
  while (length(jit_state$programs) >= limit) {
    used <- last_uses()
    forget_program(jit_state$programs[[names(used)[[which.min(used)]]]])
  }
  jit_state$programs[[program$key]] <- program
}

# How many calls are known that run one program: functions that are made again and again are equal, each with
# signatures of its own.
calls_per_program <- 48L

# Under `key` the call is found the next time, as long as its program is kept. Code of the user's, of an active binding,
# may have had it forgotten since it was made.
remember_call <- function(call, key) {
  if (isTRUE(call$program$forgotten)) {
    return(invisible())
  }
  before <- jit_state$calls[[key]]
  if (!is.null(before)) {
    before$program$keys <- setdiff(before$program$keys, key)
  }
  program <- call$program
  keys <- c(program$keys, key)
  if (length(keys) > calls_per_program) {
    forget_calls(keys[[1L]])
    keys <- keys[-1L]
  }
  program$keys <- keys
  jit_state$calls[[key]] <- call
  jit_state$known[[key]] <- known_run(call)
}

forget_calls <- function(keys) {
  rm(list = keys, envir = jit_state$calls)
  rm(list = keys, envir = jit_state$known)
}

# Who keeps a call of it looks for the mark.
forget_program <- function(program) {
  program$forgotten <- TRUE
  .Call(wrap__executable_forget, program$executable)
  forget_calls(as.character(program$keys))
  rm(list = program$key, envir = jit_state$programs)
}
