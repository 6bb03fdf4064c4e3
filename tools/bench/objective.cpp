// The models of the gallery vignette as TMB has them, for objective.R.
#include <TMB.hpp>

template <class Type>
Type objective_function<Type>::operator()() {
  DATA_STRING(model);
  if (model == "logistic") {
    DATA_MATRIX(x);
    DATA_VECTOR(y);
    PARAMETER_VECTOR(beta);
    vector<Type> eta = x * beta;
    Type loss = 0;
    for (int i = 0; i < y.size(); i++) loss += logspace_add(Type(0), eta[i]) - y[i] * eta[i];
    return loss;
  }
  if (model == "gp") {
    DATA_MATRIX(d);
    DATA_VECTOR(y);
    PARAMETER_VECTOR(p);
    vector<Type> q = exp(p);
    int n = y.size();
    matrix<Type> k(n, n);
    for (int j = 0; j < n; j++) {
      for (int i = 0; i <= j; i++) {
        Type s = sin(M_PI * d(i, j)) / q[3], t = d(i, j) / q[1], u = d(i, j) / q[4];
        k(i, j) = q[0] * q[0] * exp(-t * t / 2) + q[2] * q[2] * exp(-2 * s * s - u * u / 2);
        if (i == j) k(i, j) += q[5] * q[5];
        k(j, i) = k(i, j);
      }
    }
    return density::MVNORM(k)(y);
  }
  if (model == "level") {
    DATA_VECTOR(y);
    PARAMETER_VECTOR(p);
    Type observed = exp(p[0]), moved = exp(p[1]), a = y[0], v = observed + moved, sum = 0;
    for (int t = 1; t < y.size(); t++) {
      Type f = v + observed, e = y[t] - a;
      sum += log(f) + e * e / f;
      a += v / f * e;
      v = v * observed / f + moved;
    }
    return sum / 2;
  }
  if (model == "garch") {
    DATA_VECTOR(y);
    PARAMETER_VECTOR(p);
    Type omega = exp(p[0]), alpha = invlogit(p[1]), beta = invlogit(p[2]) * (1 - alpha);
    Type variance = omega / (1 - alpha - beta), loss = 0;
    for (int t = 0; t < y.size(); t++) {
      loss += (log(variance) + y[t] * y[t] / variance) / 2;
      variance = omega + alpha * y[t] * y[t] + beta * variance;
    }
    return loss;
  }
  if (model == "schools") {
    DATA_VECTOR(y);
    DATA_VECTOR(sigma);
    PARAMETER_VECTOR(p);
    Type mu = p[0], tau = exp(p[1]);
    vector<Type> eta = p.tail(y.size());
    vector<Type> theta = mu + tau * eta;
    Type prior = dnorm(mu, Type(0), Type(5), true) - log(1 + tau * tau / 25) + p[1];
    return -(sum(dnorm(y, theta, sigma, true)) + sum(dnorm(eta, Type(0), Type(1), true)) + prior);
  }
  DATA_MATRIX(x);
  DATA_VECTOR(time);
  DATA_VECTOR(event);
  PARAMETER_VECTOR(p);
  int k = x.cols();
  vector<Type> beta = p.head(k);
  vector<Type> eta = x * beta;
  Type shape = exp(-p[k]), loss = 0;
  for (int i = 0; i < time.size(); i++) {
    Type z = shape * (log(time[i]) - eta[i]);
    loss += exp(z) - event[i] * (z + log(shape) - log(time[i]));
  }
  return loss;
}
