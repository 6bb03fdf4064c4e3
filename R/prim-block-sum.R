#' Sums over blocks of rows
#'
#' `hlo_block_sum(f, x, y)` is `f(x, y)` for a function that adds up over the rows of its arguments, as
#' `crossprod(x, y)` and the log-likelihood of independent observations do. It is computed one block of rows after the
#' other.
#'
#' @details
#' What `f` makes on the way, such as fitted values and weights, exists for one block at a time and stays in the
#' processor's cache. So a tall matrix is read once, however often `f` uses it, and there are no copies of its size.
#' One device goes through its blocks one after the other, on one core: in [xla_shard_map()] each device does so with
#' its own rows.
#'
#' `f` must add up: for all rows it gives the sum of what it gives for the blocks. All that can be checked is that it
#' gives the same shapes for any number of rows. `nrow()`, `mean()` and the like are those of a block in `f`; divide
#' outside of it. Since numbers are added in another order, results may differ from those of `f(x, y)` in the last
#' digits.
#'
#' With `size = NULL` `f` is called once, with all rows, where blocks are of no use: for few rows, and on other devices
#' than the CPU. That holds for any `size` where XLA shares out the program among devices by itself ([hlo_shard()]).
#'
#' Derivatives: forward and reverse mode, any number of times. Reverse mode goes through the blocks once more instead of
#' keeping what it needs of each.
#'
#' @param f A function of blocks. It returns numbers: a value, or a (nested) list of them.
#' @param ... What is cut into blocks along its first axis: values, or (nested) lists of values, with equally many rows.
#'   Arguments go to `f` by the names that they have.
#' @param size Rows of a block. `NULL`: as many as make a quarter of a megabyte, or somewhat fewer so that they divide
#'   the number of rows. Where they do not, the rows are copied first.
#' @return What `f` gives, added up.
#' @section Errors:
#' Arguments of different numbers of rows, an `f` that does not take as many arguments, and results that are logical or
#' have another shape for another number of rows are errors.
#'
#' @seealso [hlo_scan()], [xla_shard_map()].
#' @examplesIf plugins_downloaded()
#' # A Newton step of a logistic regression
#' step <- xla_jit(function(beta, x, y) {
#'   sums <- hlo_block_sum(function(x, y) {
#'     p <- plogis(drop(x %*% beta))
#'     list(score = drop(crossprod(x, y - p)), information = crossprod(x, x * (p * (1 - p))))
#'   }, x, y)
#'   beta + solve(sums$information, sums$score)
#' })
#' x <- cbind(1, sin(1:100000))
#' step(c(0, 0), x, as.numeric(x[, 2] > 0.5))
#' @export
hlo_block_sum <- function(f, ..., size = NULL) {
  call <- environment()
  op <- "hlo_block_sum"
  if (!is.function(f)) {
    abort(sprintf("%s: `f` must be a function, not %s", op, describe(f)), op = op, operand = "f", call = call)
  }
  whole <- list(...)
  rows <- lapply(tree_leaves(whole), as_value, "...", call = call, op = op)
  count <- rows_in_common(rows, op, call)
  check_takes(f, whole, op, "f", call)
  size <- if (is.null(size)) block_rows(rows, count) else check_block_size(size, op, call)
  tree <- NULL
  of_block <- function(block) {
    out <- call_written(f, tree_fill(whole, block))
    tree <<- out
    lapply(tree_leaves(out), block_share, op, call)
  }
  share_types <- function(count) {
    types <- lapply(rows, function(x) new_type(x@dtype, c(count, x@shape[-1L])))
    lapply(trace_region(of_block, types, silent = TRUE)$results, type_of)
  }
  is_shared_out <- !is.null(trace_state$mesh) && is.null(trace_state$manual)
  if (is_shared_out || size >= count) {
    shares <- of_block(rows)
    all <- tree
    check_adds_up(lapply(shares, type_of), share_types(count + 1L), count, op, call)
    return(tree_fill(all, shares))
  }
  types <- share_types(size)
  check_adds_up(types, share_types(size + 1L), size, op, call)
  start <- lapply(types, zero_of)
  blocks <- count %/% size
  part <- function(from, to) {
    lapply(rows, function(x) sliced(x, c(from, rep(1L, length(x@shape) - 1L)), c(to, x@shape[-1L])))
  }
  rest <- count %% size
  stacks <- if (rest) part(1L, blocks * size) else rows
  stacks <- lapply(stacks, function(x) reshaped(x, c(blocks, size, x@shape[-1L])))
  sums <- scan_loop(function(sums, block) list(carry = Map(hlo_add, sums, of_block(block)), ys = list()),
    start, stacks, blocks, checkpoint = 1L
  )
  if (rest) {
    sums <- Map(hlo_add, sums, of_block(part(blocks * size + 1L, count)))
  }
  tree_fill(tree, unname(sums))
}

overload("hlo_block_sum", "xlaffi", hlo_block_sum, by = "own", topic = "Logic and control", dtypes = "all numbers")

rows_in_common <- function(rows, op, call) {
  counts <- vapply(rows, function(x) if (length(x@shape)) x@shape[[1L]] else NA_integer_, 0L)
  if (!length(counts) || anyNA(counts) || length(unique(counts)) > 1L) {
    abort(sprintf("%s: `...` must be arrays of equally many rows, not %s", op, types_text(rows)),
      op = op, operand = "...", call = call
    )
  }
  counts[[1L]]
}

# A block with what is computed from it shall stay in the second-level cache of one core.
block_bytes <- 2^18

block_rows <- function(rows, count) {
  width <- function(dtype) {
    if (dtype == "pred") 1 else if (is_complex(dtype)) 2 * bytes_of(real_dtype(dtype)) else bytes_of(dtype)
  }
  row <- sum(vapply(rows, function(x) prod(x@shape[-1L]) * width(x@dtype), 0))
  most <- max(1, block_bytes %/% max(1, row))
  if (!on_cpu() || count < 2 * most) {
    return(count)
  }
  sizes <- seq(most, max(1, most %/% 4))
  dividing <- sizes[count %% sizes == 0]
  as.integer(c(dividing, most)[[1L]])
}

check_block_size <- function(size, op, call) {
  fine <- is.numeric(size) && !is.object(size) && length(size) == 1L && !is.na(size) && size >= 1 && size == trunc(size)
  if (!fine || size >= 2^31) {
    abort(sprintf("%s: `size` must be a whole number from 1, not %s", op, describe_leaf(size)),
      op = op, operand = "size", call = call
    )
  }
  as.integer(size)
}

# What has rows of its own is no sum over rows.
check_adds_up <- function(types, longer, rows, op, call) {
  if (!identical(types, longer)) {
    abort(
      sprintf(
        "%s: `f` must give the same types for any number of rows, but gives %s for %d and %s for %d", op,
        types_text(types), rows, types_text(longer), rows + 1L
      ),
      op = op, operand = "f", call = call, hint = "It must add up over rows, as `sum()` and `crossprod()` do."
    )
  }
}

# What a block gives, as a number that can be added.
block_share <- function(leaf, op, call) {
  share <- scalar_value(leaf, "f", op, call)
  check_no_token(share, op, "f", call)
  if (share@dtype == "pred") {
    abort(sprintf("%s: `f` must give numbers, not %s", op, type_text(share)),
      op = op, operand = "f", call = call, hint = "`sum()` counts how many are TRUE."
    )
  }
  share
}
