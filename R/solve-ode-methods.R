# One step of a method for differential equations: functions of one element, in arithmetic of values only, so that
# derivatives and batches follow.
#
# A method has `stages`, `order` (that of the estimated error per step), and functions:
# step(f, t, h, y, slope)     list(y = , error = , k = , slope = ): the state after a step `h`, the estimated error,
#                             what the dense output needs (stages, n), and the slope at the end
# between(y, next, h, k, at)  the state at the fraction `at` of a step from `y` to `next`

# The explicit pair of orders 5 and 4 of Dormand and Prince (1980), "A family of embedded Runge-Kutta formulae",
# J. Comp. Appl. Math. 6, with the dense output of order 4 of Hairer, Norsett and Wanner (1993), "Solving ordinary
# differential equations I", II.6.
dormand_prince <- list(
  nodes = c(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1),
  stages = list(
    NULL,
    1 / 5,
    c(3 / 40, 9 / 40),
    c(44 / 45, -56 / 15, 32 / 9),
    c(19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    c(9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    c(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
  ),
  error = c(71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
  dense = c(
    -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423
  )
)

# Weights times the rows of a list of vectors, without those that are zero
weighted_sum <- function(weights, rows) {
  used <- which(weights != 0)
  Reduce(`+`, Map(function(weight, row) if (weight == 1) row else weight * row, weights[used], rows[used]))
}

explicit_step <- function(f, t, h, y, slope) {
  p <- dormand_prince
  k <- list(slope)
  for (i in 2:7) {
    at <- y + h * weighted_sum(p$stages[[i]], k)
    k[[i]] <- f(t + p$nodes[[i]] * h, at)
  }
  # The last stage is the first one of the next step.
  list(y = at, error = h * weighted_sum(p$error, k), k = rows_joined(k), slope = k[[7L]])
}

# With r = 1 - s: y + s (d + r (a + s (b + r c))), d = next - y, a = h k_1 - d, b = d - h k_7 - a, c = h sum(dense k)
explicit_between <- function(y, following, h, k, at) {
  row <- function(i) row_of(k, i)
  change <- following - y
  first <- h * row(1L) - change
  second <- change - h * row(7L) - first
  third <- h * weighted_sum(dormand_prince$dense, lapply(1:7, row))
  y + at * (change + (1 - at) * (first + at * (second + (1 - at) * third)))
}

# The Rosenbrock-Wanner method Rodas5P of order 5 (4) with dense output of order 4: G. Steinebach (2023), "Construction
# of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia Differential Equations package", BIT
# Numerical Mathematics 63, 27. Its coefficients in the form of Hairer and Wanner (1996), "Solving ordinary differential
# equations II", IV.7 (7.25), which needs no products with the Jacobian.
rodas5p <- list(
  gamma = 0.21193756319429014,
  nodes = c(0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1),
  slopes = c(
    0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0
  ),
  a = list(
    NULL,
    3.0,
    c(2.849394379747939, 0.45842242204463923),
    c(-6.954028509809101, 2.489845061869568, -10.358996098473584),
    c(2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
    c(-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946),
    c(-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1),
    c(-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1, 1)
  ),
  c = list(
    NULL,
    -14.155112264123755,
    c(-17.97296035885952, -2.859693295451294),
    c(147.12150275711716, -1.41221402718213, 71.68940251302358),
    c(165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
    c(24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
    c(
      30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
      -28.087943162872662
    ),
    c(
      37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
      -54.66780262877968, -9.48861652309627
    )
  ),
  dense = list(
    c(
      25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
      1.1241088310450404, 0.4272876194431874, -0.17202221070155493
    ),
    c(
      -9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
      15.98066361424651, -6.789040303419874, -6.710236069923372
    ),
    c(
      11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
      -59.78993625266729, -0.15582684282751913, 4.883087185713722
    )
  )
)

# (I - gamma h J) u_i = gamma (h f(t + c_i h, y + sum(a_ij u_j)) + d_i h^2 f_t + sum(c_ij u_j)): with h = 0 all u are 0.
implicit_step <- function(f, t, h, y, slope) {
  p <- rodas5p
  size <- length(y)
  by_state <- xla_jacobian(function(y) f(t, y), mode = "forward")(y)
  by_time <- xla_jvp(function(t) f(t, y))(list(t), list(filled(1, t)))
  solve <- stage_solver(identity_matrix(size, y@dtype) - (p$gamma * h) * by_state)
  u <- list()
  at <- y
  for (i in 1:8) {
    if (i > 1L) at <- y + weighted_sum(p$a[[i]], u)
    slope <- if (i == 1L) by_time$value else f(t + p$nodes[[i]] * h, at)
    right <- h * slope
    if (p$slopes[[i]] != 0) right <- right + p$slopes[[i]] * h * h * by_time$tangent
    if (i > 1L) right <- right + weighted_sum(p$c[[i]], u)
    u[[i]] <- solve(p$gamma * right)
  }
  list(y = at + u[[8L]], error = u[[8L]], k = rows_joined(u))
}

# Solves with one matrix for one vector after another. The inverse of a small one costs less than eight solutions, and
# is as exact here: the matrix is I minus a multiple of the Jacobian, whose inverse is not large. That of a very small
# one is written out: a loop without calls of handlers is one piece of machine code.
stage_solver <- function(matrix) {
  size <- matrix@shape[[1L]]
  if (size <= small_system) {
    inverted <- if (size <= tiny_system) bind_op(tiny_inverse, list(matrix)) else inverse(matrix)
    return(function(right) hlo_sum(inverted * broadcast(right, inverted@shape, 2L), 2))
  }
  packed <- lu_op()(matrix)
  function(right) {
    reshaped(lu_solve(packed$lu, permute_rows(reshaped(right, c(length(right), 1L)), packed$order)), right@shape)
  }
}

small_system <- 8L
tiny_system <- 4L

# The inverse by Gauss's and Jordan's elimination with partial pivoting, whose derivative is -X dA X
tiny_inverse <- list(
  name = "hlo_ode",
  call = function(x) eliminated(x),
  jvp = function(primals, results, tangents) -hlo_matmul(results, hlo_matmul(tangents[[1L]], results))
)

eliminated <- function(x) {
  size <- x@shape[[1L]]
  both <- joined(list(x, identity_matrix(size, x@dtype)), 2L)
  rows <- lapply(seq_len(size), function(i) row_of(both, i))
  entry <- function(row, column) reshaped(sliced(row, column, column), integer())
  for (column in seq_len(size)) {
    for (other in setdiff(seq_len(size), seq_len(column))) {
      larger <- abs(entry(rows[[other]], column)) > abs(entry(rows[[column]], column))
      exchanged <- lapply(list(rows[c(other, column)], rows[c(column, other)]), function(pair) {
        hlo_select(larger, pair[[1L]], pair[[2L]])
      })
      rows[c(column, other)] <- exchanged
    }
    pivot <- rows[[column]] / entry(rows[[column]], column)
    rows <- lapply(rows, function(row) row - entry(row, column) * pivot)
    rows[[column]] <- pivot
  }
  rows_joined(lapply(rows, function(row) sliced(row, size + 1L, 2L * size)))
}

identity_matrix <- function(size, dtype) {
  at <- function(axis) hlo_iota("i32", c(size, size), axis)
  converted(compared(at(1), at(2), "EQ", "hlo_ode"), dtype)
}

implicit_between <- function(y, following, h, k, at) {
  part <- lapply(rodas5p$dense, function(weights) weighted_sum(weights, lapply(1:8, function(i) row_of(k, i))))
  (1 - at) * y + at * (following + (1 - at) * (part[[1L]] + at * (part[[2L]] + at * part[[3L]])))
}

rows_joined <- function(rows) joined(lapply(rows, function(row) reshaped(row, c(1L, row@shape))))

ode_methods <- list(
  ode45 = list(stages = 7L, order = 5, keeps_slope = TRUE, evaluations = 6L, step = explicit_step,
    between = explicit_between),
  rodas5p = list(stages = 8L, order = 5, keeps_slope = FALSE, evaluations = 8L, step = implicit_step,
    between = implicit_between)
)
