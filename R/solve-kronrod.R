# Adaptive integration by the rules of Gauss and Kronrod, as QUADPACK's QAG: R. Piessens, E. de Doncker-Kapenga,
# C. W. Überhuber and D. K. Kahaner, "QUADPACK" (1983).

# Of each rule the nodes from 0 up, the weights of Kronrod, and those of Gauss, 0 where that rule has no node.
kronrod_15 <- list(
  nodes = c(
    0, 0.207784955007898467600689403773245, 0.405845151377397166906606412076961, 0.586087235467691130294144691693013,
    0.741531185599394439863864773280788, 0.864864423359769072789712788640926, 0.949107912342758524526189684047851,
    0.991455371120812639206854697526329
  ),
  kronrod = c(
    0.209482141084727828012999174891714, 0.204432940075298892414161999234649, 0.190350578064785409913256402421014,
    0.169004726639267902826583426598550, 0.140653259715525918745189590510238, 0.104790010322250183839876322541518,
    0.063092092629978553290700663189204, 0.022935322010529224963732008058970
  ),
  gauss = c(
    0.417959183673469387755102040816327, 0, 0.381830050505118944950369775488975, 0, 0.279705391489276667901467771423780,
    0, 0.129484966168869693270611432679082, 0
  )
)

kronrod_21 <- list(
  nodes = c(
    0, 0.148874338981631210884826001129720, 0.294392862701460198131126603103866, 0.433395394129247190799265943165784,
    0.562757134668604683339000099272694, 0.679409568299024406234327365114874, 0.780817726586416897063717578345042,
    0.865063366688984510732096688423493, 0.930157491355708226001207180059508, 0.973906528517171720077964012084452,
    0.995657163025808080735527280689003
  ),
  kronrod = c(
    0.149445554002916905664936468389821, 0.147739104901338491374841515972068, 0.142775938577060080797094273138717,
    0.134709217311473325928054001771707, 0.123491976262065851077958109585166, 0.109387158802297641899210590325805,
    0.093125454583697605535065465083366, 0.075039674810919952767043140916190, 0.054755896574351996031381300244580,
    0.032558162307964727478818972459390, 0.011694638867371874278064396062192
  ),
  gauss = c(
    0, 0.295524224714752870173815619188769, 0, 0.269266719309996355091226921569469, 0,
    0.219086362515982043995534934228163, 0, 0.149451349150580593145863396957736, 0,
    0.066671344308688137593568809893332, 0
  )
)

# Both sides of 0
whole_rule <- function(rule) {
  list(nodes = c(-rev(rule$nodes[-1L]), rule$nodes), kronrod = c(rev(rule$kronrod[-1L]), rule$kronrod),
    gauss = c(rev(rule$gauss[-1L]), rule$gauss)
  )
}

# The integral of integrand(x, given), a vector of `size` numbers, as an op. Its derivatives are integrals again:
# forward mode integrates the change of the integrand along tangents, reverse mode its gradient by what is given, as far
# as it is wanted. These are NaN where they have not converged (`strict`).
integral_op <- function(integrand, size, range, max_intervals, given_types, strict = FALSE) {
  again <- function(primals, integrand, size, given) {
    op <- integral_op(integrand, size, range, max_intervals, lapply(given, type_of), strict = TRUE)
    bind_op(op, list(lower = primals$lower, upper = primals$upper, tol = primals$tol, given = given))$value
  }
  # NULL where an end is infinite
  at_ends <- function(primals) {
    given <- unname(primals$given)
    Map(function(end, finite) if (finite) integrand(end, given), primals[c("lower", "upper")], range$finite)
  }
  # The sums of the integrand's derivatives by those of the given values that are `chosen`, weighted by `cotangent`
  shares <- function(primals, cotangent, chosen) {
    given <- unname(primals$given)
    found <- vector("list", length(given))
    if (!any(chosen)) {
      return(found)
    }
    types <- lapply(given[chosen], type_of)
    weigh <- size > 1L
    pulled <- again(primals, function(x, given) {
      own <- seq_along(chosen)
      at <- evaluated(function(...) {
        all <- given[own]
        all[chosen] <- list(...)
        integrand(x, all)
      }, given[own][chosen])
      packed(gradients_of(at, list(if (weigh) given[[length(chosen) + 1L]] else filled(1, at$outputs[[1L]]))))
    }, sum(vapply(types, function(type) as.integer(prod(type@shape)), 0L)), c(given, if (weigh) list(cotangent)))
    if (!weigh) pulled <- pulled * reshaped(cotangent, integer())
    found[chosen] <- unpacked(pulled, types)
    found
  }
  list(
    name = "hlo_integrate",
    call = function(lower, upper, tol, given) {
      unit <- range$unit(function(x) integrand(x, unname(given)), lower, upper)
      found <- adaptive_integral(unit[[1L]], unit[[2L]], unit[[3L]], tol, size, range$rule, max_intervals)
      if (strict) found$value <- found$value * where_converged(found$converged, found$value@dtype)
      found
    },
    jvp = function(primals, results, tangents) {
      changes <- lapply(results, function(result) NULL)
      counts <- where_converged(results$converged, results$value@dtype)
      moving <- !vapply(tangents$given, is.null, NA)
      change <- if (any(moving)) {
        again(primals, function(x, given) {
          own <- seq_along(moving)
          at <- evaluated(function(given) integrand(x, given), list(given[own]), named = FALSE)
          directions <- vector("list", length(moving))
          directions[moving] <- beyond(given, length(moving))
          or_zero(jvp_graph(at$outputs, at$roots, directions)[[1L]], at$outputs[[1L]])
        }, size, c(unname(primals$given), unname(tangents$given[moving])))
      }
      ends <- at_ends(primals)
      if (!is.null(tangents$upper)) change <- add_tangents(change, ends$upper * tangents$upper)
      if (!is.null(tangents$lower)) change <- add_tangents(change, -ends$lower * tangents$lower)
      if (!is.null(change)) changes$value <- change * counts
      changes
    },
    vjp = function(primals, results, cotangents, wanted) {
      cotangent <- cotangents$value * where_converged(results$converged, results$value@dtype)
      ends <- at_ends(primals)
      list(
        lower = if (wanted$lower) -inner_product(ends$lower, cotangent),
        upper = if (wanted$upper) inner_product(ends$upper, cotangent),
        tol = lapply(primals$tol, function(x) NULL),
        given = shares(primals, cotangent, inexact_types(primals$given) & unlist(wanted$given))
      )
    },
    transpose = function(primals, cotangents) {
      linear <- vapply(primals$given, is.null, NA)
      primals$given[linear] <- lapply(given_types[linear], zero_of)
      list(lower = NULL, upper = NULL, tol = lapply(primals$tol, function(x) NULL),
        given = shares(primals, cotangents$value, linear)
      )
    }
  )
}

# Each turn divides the interval with the largest error, and computes both halves. `rows` are the intervals, of which
# those that are not there yet have neither length nor error.
adaptive_integral <- function(f, lower, upper, tol, size, rule, max_intervals) {
  zeros <- constant(0, lower@dtype, max_intervals, "intervals")
  state <- list(
    from = lower, to = upper, lower = zeros, upper = zeros, values = constant(0, lower@dtype, c(max_intervals, size),
      "intervals"
    ), errors = zeros, sizes = zeros, intervals = integer_of(0L), stalled = integer_of(0L), growing = integer_of(0L),
    reason = integer_of(solving)
  )
  points <- in_turns(function(x) {
    batch <- batch_leaves(function(leaves) list(f(leaves[[1L]])), list(x), TRUE, length(x))
    list(in_front(batch$values[[1L]], batch$mapped[[1L]], length(x)))
  }, constant(0, lower@dtype, 2L * length(whole_rule(rule)$nodes), "points"))
  s <- solver_loop(function(s) s$reason == solving, function(s) {
    divided(s, function(x) points(x)[[1L]], rule, tol, max_intervals)
  }, state)
  list(
    value = hlo_sum(s$values, 1), error = hlo_sum(s$errors), intervals = s$intervals,
    evaluations = (2L * s$intervals - 1L) * length(whole_rule(rule)$nodes),
    converged = s$reason == solver_reasons[["converged"]], reason = s$reason
  )
}

divided <- function(s, points, rule, tol, max_intervals) {
  rounding <- rounding_of(s$from@dtype)
  first <- s$intervals == 0L
  place <- hlo_iota("i32", max_intervals)
  worst <- largest_of(s$errors)
  at <- reduced("reduce_min", hlo_select(s$errors == worst, place, max_intervals), NULL, "min()")
  here <- place == at
  there <- place == s$intervals
  picked <- function(rows) hlo_sum(hlo_select(here, rows, 0))
  low <- hlo_select(first, s$from, picked(s$lower))
  high <- hlo_select(first, s$to, picked(s$upper))
  # The first turn computes the whole interval twice, and takes it once.
  middle <- low + (high - low) / 2
  left <- list(low = low, high = hlo_select(first, high, middle))
  right <- list(low = hlo_select(first, low, middle), high = high)
  both <- kronrod_pair(points, left, right, rule)
  row <- function(rows, i) reshaped(sliced(rows, c(i, 1L), c(i, rows@shape[[2L]])), rows@shape[[2L]])
  element <- function(x, i) reshaped(sliced(x, i, i), integer())
  second <- there & !first
  put <- function(rows, left, right) hlo_select(here, left, hlo_select(second, right, rows))
  old <- hlo_dot(converted(here, s$values@dtype), s$values, list(1, 1))
  new <- row(both$value, 1L) + row(both$value, 2L)
  error <- element(both$error, 1L) + element(both$error, 2L)
  # Dividing that changes nothing, and errors that grow, are rounding.
  same <- !first & (largest_of(abs(old - new)) <= 1e-5 * largest_of(abs(new))) & (error >= 0.99 * worst)
  s$stalled <- s$stalled + as_count(same)
  s$growing <- s$growing + as_count(!first & (s$intervals > 10L) & (error > worst))
  s$lower <- put(s$lower, left$low, right$low)
  s$upper <- put(s$upper, left$high, right$high)
  s$errors <- put(s$errors, element(both$error, 1L), element(both$error, 2L))
  s$sizes <- put(s$sizes, element(both$size, 1L), element(both$size, 2L))
  wide <- function(flags, rows) hlo_broadcast(flags, rows@shape, 1)
  tall <- function(x, rows) hlo_broadcast(x, rows@shape, 2)
  s$values <- hlo_select(wide(here, s$values), tall(row(both$value, 1L), s$values),
    hlo_select(wide(second, s$values), tall(row(both$value, 2L), s$values), s$values)
  )
  s$intervals <- s$intervals + 1L
  total <- hlo_sum(s$errors)
  bound <- hlo_max(hlo_max(tol$absolute, tol$relative * largest_of(abs(hlo_sum(s$values, 1)))),
    100 * rounding * hlo_sum(s$sizes)
  )
  small <- (total <= bound) & !(first & (element(both$error, 1L) == element(both$spread, 1L)) & (total > 0))
  narrow <- abs(high - low) <= 200 * rounding * hlo_max(abs(low), abs(high))
  reason <- hlo_select(s$intervals >= max_intervals, reason_of("error above its bound with max_intervals"),
    integer_of(solving)
  )
  rounded <- (s$stalled >= 6L) | (s$growing >= 20L) | (narrow & !first)
  reason <- hlo_select(rounded, reason_of("rounding keeps the error above its bound"), reason)
  reason <- hlo_select(small, reason_of("converged"), reason)
  s$reason <- hlo_select(abs(total) < Inf & all_finite(new), reason, reason_of("the integrand is not finite"))
  s
}

# Integrals over two intervals, one in each row; of all numbers of an integrand the largest error, the largest integral
# of the absolute value, and that of what differs from the mean. QUADPACK's estimates (QK21).
kronrod_pair <- function(points, left, right, rule) {
  rule <- whole_rule(rule)
  count <- length(rule$nodes)
  like <- left$low
  pair <- function(x, y) joined(list(reshaped(x, 1L), reshaped(y, 1L)))
  half <- pair((left$high - left$low) / 2, (right$high - right$low) / 2)
  center <- pair(left$low + (left$high - left$low) / 2, right$low + (right$high - right$low) / 2)
  shape <- c(2L, count)
  nodes <- hlo_broadcast(constant(rule$nodes, like@dtype, count, "nodes"), shape, 2)
  x <- hlo_broadcast(center, shape, 1) + hlo_broadcast(half, shape, 1) * nodes
  values <- points(reshaped(x, 2L * count))
  size <- values@shape[[2L]]
  values <- reshaped(values, c(shape, size))
  weighted <- function(values, weights) {
    hlo_dot(values, constant(weights, like@dtype, count, "weights"), list(2, 1)) * hlo_broadcast(half, c(2L, size), 1)
  }
  value <- weighted(values, rule$kronrod)
  largest <- function(x) reduced("reduce_max", abs(x), 2, "max()")
  error <- largest(value - weighted(values, rule$gauss))
  mean <- hlo_dot(values, constant(rule$kronrod, like@dtype, count, "weights"), list(2, 1)) / 2
  spread <- largest(weighted(abs(values - hlo_broadcast(mean, values@shape, c(1, 3))), rule$kronrod))
  sizes <- largest(weighted(abs(values), rule$kronrod))
  known <- (spread != 0) & (error != 0)
  error <- hlo_select(known, spread * hlo_min(1, (200 * error / hlo_select(known, spread, 1))^1.5), error)
  list(value = value, error = hlo_max(error, 50 * rounding_of(like@dtype) * sizes), size = sizes, spread = spread)
}
