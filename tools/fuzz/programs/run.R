# The loop over batches, and what it tells.

load_programs <- function(folder, into = globalenv()) {
  files <- c(
    "sparse.R", "grammar.R", "rounding.R", "grow.R", "differences.R", "refusals.R", "batch.R", "shrink.R", "smooth.R",
    "slopes.R", "large.R", "loops.R"
  )
  for (file in files) sys.source(file.path(folder, file), into)
}

# What the command line says: SECONDS [SEED [COUNT [FIRST]]]
run_command <- function(run) {
  args <- as.numeric(commandArgs(trailingOnly = TRUE))
  given <- function(at, default) if (length(args) >= at) args[[at]] else default
  # Programs on disk are asked for once and never again.
  options(xlaffi.program_cache = FALSE)
  kinds <- run(args[[1L]], as.integer(given(2L, 1)), given(3L, Inf), function(...) cat(..., "\n", sep = ""),
    as.integer(given(4L, 1)))
  quit(save = "no", status = as.integer(kinds > 0L))
}

batch_size <- 250L

# `batches(batch)` does one and gives how many it was. A batch is repeated by its seed and number alone.
run_batches <- function(seconds, seed, most, first, say, batches) {
  end <- proc.time()[["elapsed"]] + seconds
  done <- 0
  batch <- first
  repeat {
    # The last line tells which one ended the process.
    say(sprintf("seed %d, batch %d, after %d", seed, batch, done))
    set.seed(1000L * seed + batch)
    done <- done + batches(batch, most - done)
    if (done >= most || proc.time()[["elapsed"]] >= end) break
    batch <- batch + 1L
  }
  done
}

tell_kinds <- function(kinds, say) {
  for (kind in kinds) if (kind$count > 1L) say(sprintf("%d times: %s", kind$count, kind$title))
}

# Programs are short, and a batch of them is long: they are compiled as short ones are, and some batches as long ones.
batch_kind <- function(batch) if (batch %% 8L == 5L) "long" else "short"

# So many together of `size`: one program that cannot be compiled as a long one decides for all that are.
together_of <- function(batch, size) if (batch_kind(batch) == "long") min(size, 5L) else size

# Gives the number of kinds of findings.
run_programs <- function(seconds, seed, most, say, first = 1L) {
  kinds <- list()
  done <- run_batches(seconds, seed, most, first, say, function(batch, left) {
    if (is_large_batch(batch)) {
      data <- large_data()
      together <- large_together
      programs <- random_programs(min(large_batch_size, left), data, differences, large_grammar, large_weights)
    } else {
      data <- random_data()
      together <- together_of(batch, batch_size)
      programs <- random_programs(min(batch_size, left), data, differences)
    }
    dtype <- if (batch %% 4L == 3L || batch %% 16L == 10L) "f32" else "f64"
    compiled_as(batch_kind(batch), {
      place <- sprintf("seed %d, batch %d", seed, batch)
      kinds <<- batch_findings(programs, data, dtype, kinds, place, say, together)
    })
    length(programs)
  })
  tell_kinds(kinds, say)
  say(sprintf("%d programs, %d kinds of findings", done, length(kinds)))
  length(kinds)
}

batch_findings <- function(programs, data, dtype, kinds, place, say, together) {
  usable <- vapply(programs, function(program) {
    # Single precision has neither larger nor smaller numbers.
    dtype == "f64" || program$found$most < 1e30 && program$found$least > 1e-25
  }, NA)
  programs <- programs[usable]
  outcomes <- in_pieces(programs, together, function(programs) {
    batch_outcomes(lapply(programs, function(program) program$code), data, dtype)
  })
  for (at in seq_along(programs)) {
    problem <- outcome_problem(outcomes[[at]], programs[[at]]$found, dtype, programs[[at]]$code)
    if (is.null(problem)) next
    code <- programs[[at]]$code
    known <- counted_kinds(kinds, code, problem)
    if (!is.null(known)) {
      kinds <- known
      next
    }
    small <- shrunk_program(code, data, problem, dtype, differences)
    kinds <- c(kinds, list(new_kind(problem, small$code, data)))
    say(sprintf("FOUND %s (%s, %s)", problem, place, dtype))
    for (line in program_text(small, dtype, problem)) say("  ", gsub("\n", "\n  ", line))
  }
  kinds
}

# The list that `f` makes of so many of `x` at a time
in_pieces <- function(x, size, f) {
  pieces <- split(x, (seq_along(x) - 1L) %/% size)
  unlist(lapply(unname(pieces), f), recursive = FALSE)
}

# A program with all functions of a smaller one that failed in the same way is taken to be of its kind.
is_of_kind <- function(code, problem, kind) {
  problem_class(problem) == problem_class(kind$problem) && all(kind$names %in% all.names(code))
}

# `kinds` with one more of the kind that a finding is of; NULL for a new kind.
counted_kinds <- function(kinds, code, problem) {
  known <- which(vapply(kinds, function(kind) is_of_kind(code, problem, kind), NA))
  if (length(known)) {
    kinds[[known[[1L]]]]$count <- kinds[[known[[1L]]]]$count + 1L
    kinds
  }
}

# The same for derivatives: every third function has its Hessian looked at.
run_functions <- function(seconds, seed, most, say, first = 1L, size = 45L) {
  kinds <- list()
  compared <- 0
  done <- run_batches(seconds, seed, most, first, say, function(batch, left) {
    if (is_large_batch(batch)) {
      data <- large_smooth_data()
      codes <- large_functions(min(large_functions_size, left), data)
    } else {
      data <- smooth_data()
      codes <- random_functions(min(size, left), data)
    }
    second <- seq_along(codes) %% 3L == 1L
    together <- if (is_large_batch(batch)) large_together else together_of(batch, size)
    problems <- compiled_as(batch_kind(batch), in_pieces(seq_along(codes), together, function(at) {
      slope_problems(codes[at], data, second[at])
    }))
    compared <<- compared + sum(!vapply(problems, function(problem) length(problem) && is.na(problem), NA))
    for (at in seq_along(codes)) {
      if (is.null(problems[[at]]) || is.na(problems[[at]])) next
      kinds <<- function_finding(codes[[at]], data, problems[[at]], second[[at]], kinds,
        sprintf("seed %d, batch %d", seed, batch), say)
    }
    length(codes)
  })
  tell_kinds(kinds, say)
  say(sprintf("%d functions, %d of them compared, %d kinds of findings", done, compared, length(kinds)))
  length(kinds)
}

function_finding <- function(code, data, problem, second, kinds, place, say) {
  known <- counted_kinds(kinds, code, problem)
  if (!is.null(known)) {
    return(known)
  }
  code <- shrunk_function(code, data, problem, function(codes) slope_problems(codes, data, rep(second, length(codes))))
  say(sprintf("FOUND %s (%s)", problem, place))
  for (line in function_text(code, data, second)) say("  ", gsub("\n", "\n  ", line))
  c(kinds, list(new_kind(problem, code, data)))
}

new_kind <- function(problem, code, data) {
  list(
    problem = problem, names = unique(setdiff(all.names(code), names(data))), count = 1L,
    title = sprintf("%s: %s", problem, paste(deparse(code, width.cutoff = 200L), collapse = " "))
  )
}

function_text <- function(code, data, second) {
  data <- data[intersect(names(data), all.names(code))]
  c(
    sprintf("%s <- %s", names(data), vapply(data, literal_text, "")),
    sprintf("f <- function(q) %s", paste(deparse(code, width.cutoff = 110L), collapse = "\n")),
    if (second) "xlaffi::xla_hessian(f)(q)", "xlaffi::xla_grad(f, value = TRUE)(q)"
  )
}
