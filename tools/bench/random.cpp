// The models of random.R as TMB has them.
#include <TMB.hpp>

template <class Type>
Type objective_function<Type>::operator()() {
  DATA_STRING(model);
  if (model == "cbpp") {
    DATA_MATRIX(x);
    DATA_IVECTOR(herd);
    DATA_VECTOR(incidence);
    DATA_VECTOR(size);
    PARAMETER_VECTOR(beta);
    PARAMETER(log_sd);
    PARAMETER_VECTOR(u);
    vector<Type> eta = x * beta;
    Type loss = -dnorm(u, Type(0), Type(1), true).sum();
    for (int i = 0; i < herd.size(); i++) {
      loss -= dbinom_robust(incidence[i], size[i], eta[i] + exp(log_sd) * u[herd[i]], true);
    }
    return loss;
  }
  if (model == "volatility") {
    DATA_VECTOR(y);
    PARAMETER(mu);
    PARAMETER(a);
    PARAMETER(log_s);
    PARAMETER_VECTOR(u);
    Type rho = 2 / (1 + exp(-a)) - 1, s = exp(log_s);
    Type loss = -dnorm(u[0], mu, s / sqrt(1 - rho * rho), true);
    for (int t = 1; t < u.size(); t++) loss -= dnorm(u[t], mu + rho * (u[t - 1] - mu), s, true);
    for (int t = 0; t < y.size(); t++) loss -= dnorm(y[t], Type(0), exp(u[t] / 2), true);
    return loss;
  }
  if (model == "field") {
    DATA_VECTOR(y);
    DATA_SPARSE_MATRIX(laplacian);
    DATA_SPARSE_MATRIX(identity);
    PARAMETER(b);
    PARAMETER(log_tau);
    PARAMETER(log_kappa);
    PARAMETER_VECTOR(u);
    Eigen::SparseMatrix<Type> q = exp(log_tau) * (laplacian + exp(log_kappa) * identity);
    Type loss = density::GMRF(q)(u);
    for (int i = 0; i < y.size(); i++) loss -= dpois(y[i], exp(b + u[i]), true);
    return loss;
  }
  error("no such model");
}
