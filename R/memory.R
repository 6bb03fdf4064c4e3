#' What is known of a device's memory
#'
#' @param device A device, its name, or `NULL` for the default one.
#' @return A named vector of bytes (doubles): what the plugin tells, of `bytes_in_use`, `peak_bytes_in_use`,
#'   `num_allocs` (a number), `largest_alloc_size`, `bytes_limit`, `bytes_reserved`, `peak_bytes_reserved`,
#'   `bytes_reservable_limit`, `largest_free_block_bytes`, `pool_bytes` and `peak_pool_bytes`, as the PJRT
#'   interface calls them. A plugin that tells nothing is an error of class `xlaffi_error_unimplemented`.
#'
#' The included CPU plugin tells of the elements of buffers: `bytes_in_use` of those that live, the most that
#' there were, how many were made, and the largest. What programs use while they run, and memory that is kept
#' for later, is not in it: of that only the system knows. A buffer that R does not need any more lives until
#' R collects it (`gc()`).
#' @seealso The section Memory of [pjrt_buffer()].
#' @examplesIf plugins_downloaded()
#' x <- pjrt_buffer(rnorm(1000), "f64")
#' pjrt_memory_stats()
#' @export
pjrt_memory_stats <- function(device = NULL) {
  unlist(check(.Call(wrap__device_memory_stats, as_pjrt_device(device))))
}

#' How many programs may be under way
#'
#' [pjrt_execute()] may return before the work is done, and so a loop may launch programs faster than they
#' run. Each that is under way holds the memory of its results. From `limit` on a launch waits until one of
#' those before is through; Ctrl-C ends the wait. On several devices all programs count together; one that
#' runs on several counts once.
#'
#' XLA's CPU client has room for 32 programs on a device, and keeps the thread that launches another one,
#' without a look at Ctrl-C. Programs whose results R has dropped cannot be counted for sure; programs within
#' R functions that a program calls are not held back.
#'
#' @section Errors:
#' A limit that is no whole number from 1 is an error.
#'
#' @param limit A whole number from 1, or `NULL` to leave it as it is. 1 means that each program waits for
#'   the one before.
#' @return The limit until now, invisibly where it is set. At first it is 24.
#' @examples
#' before <- pjrt_in_flight(8)
#' pjrt_in_flight()
#' pjrt_in_flight(before)
#' @export
pjrt_in_flight <- function(limit = NULL) {
  if (is.null(limit)) {
    return(check(.Call(wrap__in_flight_limit, 0)))
  }
  if (!is.numeric(limit) || length(limit) != 1L || is.na(limit) || limit < 1 || limit != trunc(limit)) {
    abort(sprintf("`limit` must be one whole number from 1, not %s", describe(limit)), operand = "limit")
  }
  invisible(check(.Call(wrap__in_flight_limit, limit)))
}
