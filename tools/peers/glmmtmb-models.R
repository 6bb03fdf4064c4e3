# Models of glmmTMB's documentation and of data that come with R, lme4, nlme and glmmTMB, for check-glmmtmb.R: each as a
# call of glmmTMB, and as a function with the same parameters: `beta` of the mean, `betazi` of the zeros, `betad` of the
# dispersion, `theta` of the random effects (logarithms of standard deviations, then what correlations are made of),
# `shape` of the family, `b` the effects. Models of which a variance or a correlation ends at its bound are left out:
# there the likelihood is flat, and estimates are where a search happened to stop.

# Effects of one standard deviation
intercepts <- function(b, theta) -sum(dnorm(b, 0, exp(theta), log = TRUE))

# Rows of an intercept and a slope, correlated
slopes <- function(b, theta) -sum(hlo_dmvnorm(b, chol = hlo_corr_chol(theta[3], exp(theta[1:2])), log = TRUE))

salamanders <- glmmTMB::Salamanders
# For all species glmmTMB takes many minutes with the Conway-Maxwell-Poisson distribution.
one_species <- subset(salamanders, spp == "DM")
owls <- glmmTMB::Owls
seizures <- glmmTMB::epil2
cattle <- lme4::cbpp
sleep <- lme4::sleepstudy
gasoline <- transform(as.data.frame(nlme::Gasoline), share = yield / 100, heat = (endpoint - 332) / 100)
gasoline$Sample <- factor(as.character(gasoline$Sample))
river <- data.frame(flow = as.vector(datasets::Nile) / 100, year = factor(1:100), all = factor(1))

design <- function(formula, data) unname(stats::model.matrix(formula, data))

# Data of the salamanders; `zero` is the formula of the zeros.
pond <- function(mean, zero = NULL) {
  data <- list(y = salamanders$count, x = design(mean, salamanders), site = as.integer(salamanders$site))
  if (!is.null(zero)) data$z <- design(zero, salamanders)
  data
}

nest <- function(y, mean) {
  list(y = y, x = design(mean, owls), nest = as.integer(owls$Nest), offset = log(owls$BroodSize))
}

glmmtmb_models <- list(
  "Salamanders, Poisson" = list(
    peer = function() glmmTMB(count ~ spp + mined + (1 | site), data = salamanders, family = poisson),
    f = function(p, y, x, site) {
      -sum(dpois(y, exp(c(x %*% p$beta) + p$b[site]), log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(8), theta = 0, b = numeric(23)), data = pond(~spp + mined)
  ),
  "Salamanders, zero-inflated Poisson" = list(
    peer = function() {
      glmmTMB(count ~ mined + (1 | site), ziformula = ~mined, data = salamanders, family = poisson)
    },
    f = function(p, y, x, site, z) {
      density <- dpois(y, exp(c(x %*% p$beta) + p$b[site]), log = TRUE)
      -sum(hlo_dzeroinflated(y, plogis(c(z %*% p$betazi)), density, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(2), betazi = numeric(2), theta = 0, b = numeric(23)), data = pond(~mined, ~mined)
  ),
  "Salamanders, nbinom2" = list(
    peer = function() glmmTMB(count ~ spp + mined + (1 | site), data = salamanders, family = nbinom2),
    f = function(p, y, x, site) {
      mu <- exp(c(x %*% p$beta) + p$b[site])
      -sum(dnbinom(y, size = exp(p$betad), mu = mu, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(8), betad = 0, theta = 0, b = numeric(23)), data = pond(~spp + mined)
  ),
  "Salamanders, nbinom1, dispersion by water" = list(
    peer = function() {
      glmmTMB(count ~ mined + (1 | site), dispformula = ~DOY, data = salamanders, family = nbinom1)
    },
    f = function(p, y, x, site, d) {
      mu <- exp(c(x %*% p$beta) + p$b[site])
      -sum(dnbinom(y, size = mu / exp(c(d %*% p$betad)), mu = mu, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(2), betad = numeric(2), theta = 0, b = numeric(23)),
    data = c(pond(~mined), list(d = design(~DOY, salamanders)))
  ),
  "Salamanders, zero-inflated nbinom2" = list(
    peer = function() {
      glmmTMB(count ~ spp + mined + (1 | site), ziformula = ~ spp + mined, data = salamanders, family = nbinom2)
    },
    f = function(p, y, x, site, z) {
      density <- dnbinom(y, size = exp(p$betad), mu = exp(c(x %*% p$beta) + p$b[site]), log = TRUE)
      -sum(hlo_dzeroinflated(y, plogis(c(z %*% p$betazi)), density, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(8), betazi = numeric(8), betad = 0, theta = 0, b = numeric(23)),
    data = pond(~ spp + mined, ~ spp + mined)
  ),
  "Salamanders, hurdle of truncated Poisson" = list(
    peer = function() {
      glmmTMB(count ~ spp + mined + (1 | site), ziformula = ~ spp + mined, data = salamanders,
        family = truncated_poisson
      )
    },
    f = function(p, y, x, site, z) {
      density <- hlo_dztpois(y, exp(c(x %*% p$beta) + p$b[site]), log = TRUE)
      -sum(hlo_dzeroinflated(y, plogis(c(z %*% p$betazi)), density, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(8), betazi = numeric(8), theta = 0, b = numeric(23)),
    data = pond(~ spp + mined, ~ spp + mined)
  ),
  "Salamanders, hurdle of truncated nbinom2" = list(
    peer = function() {
      glmmTMB(count ~ mined + (1 | site), ziformula = ~mined, data = salamanders, family = truncated_nbinom2)
    },
    f = function(p, y, x, site, z) {
      density <- hlo_dztnbinom(y, size = exp(p$betad), mu = exp(c(x %*% p$beta) + p$b[site]), log = TRUE)
      -sum(hlo_dzeroinflated(y, plogis(c(z %*% p$betazi)), density, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(2), betazi = numeric(2), betad = 0, theta = 0, b = numeric(23)),
    data = pond(~mined, ~mined)
  ),
  "Salamanders of one species, Conway-Maxwell-Poisson" = list(
    peer = function() glmmTMB(count ~ mined + (1 | site), data = one_species, family = compois),
    f = function(p, y, x, site) {
      mu <- exp(c(x %*% p$beta) + p$b[site])
      -sum(hlo_dcompois(y, mean = mu, nu = exp(-p$betad), log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(2), betad = 0, theta = 0, b = numeric(23)),
    data = list(y = one_species$count, x = design(~mined, one_species), site = as.integer(one_species$site))
  ),
  "Owls, zero-inflated nbinom1 with an offset" = list(
    peer = function() {
      glmmTMB(SiblingNegotiation ~ FoodTreatment * SexParent + offset(log(BroodSize)) + (1 | Nest),
        ziformula = ~1, data = owls, family = nbinom1
      )
    },
    f = function(p, y, x, nest, offset) {
      mu <- exp(c(x %*% p$beta) + offset + p$b[nest])
      density <- dnbinom(y, size = mu * exp(-p$betad), mu = mu, log = TRUE)
      -sum(hlo_dzeroinflated(y, plogis(p$betazi), density, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(4), betazi = 0, betad = 0, theta = 0, b = numeric(27)),
    data = nest(owls$SiblingNegotiation, ~ FoodTreatment * SexParent)
  ),
  "Owls, generalised Poisson" = list(
    peer = function() {
      glmmTMB(SiblingNegotiation ~ FoodTreatment + offset(log(BroodSize)) + (1 | Nest), data = owls, family = genpois)
    },
    f = function(p, y, x, nest, offset) {
      mu <- exp(c(x %*% p$beta) + offset + p$b[nest])
      -sum(hlo_dgenpois(y, mu, exp(p$betad), log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(2), betad = 0, theta = 0, b = numeric(27)),
    data = nest(owls$SiblingNegotiation, ~FoodTreatment)
  ),
  "Owls, Tweedie" = list(
    peer = function() glmmTMB(NegPerChick ~ FoodTreatment + (1 | Nest), data = owls, family = tweedie),
    f = function(p, y, x, nest) {
      mu <- exp(c(x %*% p$beta) + p$b[nest])
      -sum(hlo_dtweedie(y, mu, exp(p$betad), 1 + plogis(p$shape), log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(2), betad = 0, theta = 0, shape = 0, b = numeric(27)),
    data = nest(owls$NegPerChick, ~FoodTreatment)[c("y", "x", "nest")]
  ),
  "cbpp, binomial" = list(
    peer = function() {
      glmmTMB(cbind(incidence, size - incidence) ~ period + (1 | herd), data = cattle, family = binomial)
    },
    f = function(p, y, size, x, herd) {
      -sum(dbinom(y, size, plogis(c(x %*% p$beta) + p$b[herd]), log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(4), theta = 0, b = numeric(15)),
    data = list(
      y = cattle$incidence, size = cattle$size, x = design(~period, cattle), herd = as.integer(cattle$herd)
    )
  ),
  "esoph, beta-binomial" = list(
    peer = function() {
      glmmTMB(cbind(ncases, ncontrols) ~ agegp + (1 | alcgp), data = datasets::esoph, family = betabinomial)
    },
    f = function(p, y, size, x, alcohol) {
      mu <- plogis(c(x %*% p$beta) + p$b[alcohol])
      -sum(hlo_dbetabinom(y, size, mu, exp(p$betad), log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = numeric(6), betad = 1, theta = 0, b = numeric(4)),
    data = list(
      y = datasets::esoph$ncases, size = with(datasets::esoph, ncases + ncontrols),
      x = design(~agegp, datasets::esoph), alcohol = as.integer(datasets::esoph$alcgp)
    )
  ),
  "sleepstudy, correlated slopes" = list(
    peer = function() glmmTMB(Reaction ~ Days + (Days | Subject), data = sleep),
    f = function(p, y, days, subject) {
      mu <- p$beta[1] + p$b[subject, 1] + (p$beta[2] + p$b[subject, 2]) * days
      -sum(dnorm(y, mu, exp(p$betad / 2), log = TRUE)) + slopes(p$b, p$theta)
    },
    par = list(beta = c(250, 10), betad = 6, theta = c(3, 2, 0), b = matrix(0, 18, 2)),
    data = list(y = sleep$Reaction, days = sleep$Days, subject = as.integer(sleep$Subject))
  ),
  "Nile, autoregressive with an error" = list(
    peer = function() glmmTMB(flow ~ 1 + ar1(year + 0 | all), data = river),
    f = function(p, y) {
      phi <- p$theta[2] / sqrt(1 + p$theta[2]^2)
      -sum(dnorm(y, p$beta + p$b, exp(p$betad / 2), log = TRUE)) -
        hlo_dar1(p$b, phi, sd = exp(p$theta[1]), log = TRUE)
    },
    par = list(beta = 9, betad = 0, theta = c(0, 1), b = numeric(100)), data = list(y = river$flow)
  ),
  "epil2, Poisson with correlated slopes" = list(
    peer = function() {
      glmmTMB(y ~ Base * trt + Age + Visit + (Visit | subject), data = seizures, family = poisson)
    },
    f = function(p, y, x, visit, subject) {
      mu <- exp(c(x %*% p$beta) + p$b[subject, 1] + p$b[subject, 2] * visit)
      -sum(dpois(y, mu, log = TRUE)) + slopes(p$b, p$theta)
    },
    par = list(beta = numeric(6), theta = c(-1, -1, 0), b = matrix(0, 59, 2)),
    data = list(
      y = seizures$y, x = design(~ Base * trt + Age + Visit, seizures), visit = seizures$Visit,
      subject = as.integer(factor(seizures$subject))
    )
  ),
  "Gasoline, beta" = list(
    peer = function() glmmTMB(share ~ heat + (1 | Sample), data = gasoline, family = beta_family()),
    f = function(p, y, heat, sample) {
      mu <- plogis(p$beta[1] + p$beta[2] * heat + p$b[sample])
      phi <- exp(p$betad)
      -sum(dbeta(y, mu * phi, (1 - mu) * phi, log = TRUE)) + intercepts(p$b, p$theta)
    },
    par = list(beta = c(-1.5, 1), betad = 4, theta = 0, b = numeric(10)),
    data = list(y = gasoline$share, heat = gasoline$heat, sample = as.integer(gasoline$Sample))
  )
)
