"""Models of sample-models.R for numpyro: python sample.py MODEL FOLDER, with data.json in the folder.

Writes draws.bin (chains x iterations x variables, by rows) and times.json."""

import json
import resource
import sys
import time

import numpy as np
import numpyro

numpyro.enable_x64()
numpyro.set_host_device_count(4)
import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from jax import lax
from numpyro import sample
from numpyro.infer import MCMC, NUTS


def schools(y, sigma):
    mu = sample("mu", dist.Normal(0, 5))
    tau = sample("tau", dist.HalfCauchy(5))
    z = sample("z", dist.Normal(0, 1).expand([8]))
    sample("y", dist.Normal(mu + tau * z, sigma), obs=y)


def flat(size=None):
    return dist.ImproperUniform(dist.constraints.real, () if size is None else (size,), ())


def kidiq(x, y):
    beta = sample("beta", flat(4))
    sigma = sample("sigma", dist.HalfCauchy(2.5))
    sample("y", dist.Normal(x @ beta, sigma), obs=y)


def radon(y, county, basement, uranium):
    mu = sample("mu", dist.Normal(0, 10))
    beta = sample("beta", dist.Normal(0, 10).expand([2]))
    sigma_alpha = sample("sigma_alpha", dist.HalfNormal(1))
    sigma_y = sample("sigma_y", dist.HalfNormal(1))
    alpha = sample("alpha", dist.Normal(mu, sigma_alpha).expand([85]))
    sample("y", dist.Normal(alpha[county - 1] + beta[0] * uranium + beta[1] * basement, sigma_y), obs=y)


def logistic(x, y):
    beta = sample("beta", dist.Normal(0, 1).expand([25]))
    sample("y", dist.Bernoulli(logits=x @ beta), obs=y)


def arK(y, past):
    alpha = sample("alpha", dist.Normal(0, 10))
    beta = sample("beta", dist.Normal(0, 10).expand([5]))
    sigma = sample("sigma", dist.HalfCauchy(2.5))
    sample("y", dist.Normal(alpha + past @ beta, sigma), obs=y[5:])


def positive():
    return dist.ImproperUniform(dist.constraints.positive, (), ())


def garch(y, sigma1):
    mu = sample("mu", flat())
    alpha0 = sample("alpha0", positive())
    alpha1 = sample("alpha1", dist.Uniform(0, 1))
    share = sample("share", dist.Uniform(0, 1))
    beta = share * (1 - alpha1)

    def step(variance, square):
        new = alpha0 + alpha1 * square + beta * variance
        return new, new

    first = sigma1**2
    _, later = lax.scan(step, first, (y[:-1] - mu) ** 2)
    variance = jnp.concatenate([first[None], later])
    sample("y", dist.Normal(mu, jnp.sqrt(variance)), obs=y)
    numpyro.factor("jacobian", jnp.log1p(-alpha1))


def gp(x, y):
    rho = sample("rho", dist.Gamma(25, 4))
    alpha = sample("alpha", dist.HalfNormal(2))
    sigma = sample("sigma", dist.HalfNormal(1))
    distance = x[:, None] - x[None, :]
    covariance = alpha**2 * jnp.exp(-(distance**2) / (2 * rho**2)) + sigma**2 * jnp.eye(50)
    sample("y", dist.MultivariateNormal(jnp.zeros(50), covariance_matrix=covariance), obs=y)


ORDER = {
    "schools": ["mu", "tau", "z"], "kidiq": ["beta", "sigma"],
    "radon": ["alpha", "beta", "mu", "sigma_alpha", "sigma_y"], "logistic": ["beta"], "arK": ["alpha", "beta", "sigma"],
    "garch": ["mu", "alpha0", "alpha1", "share"], "gp": ["rho", "alpha", "sigma"],
}


def now():
    return np.array([time.time(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])])


def main():
    name, folder = sys.argv[1:]
    with open(f"{folder}/data.json") as file:
        data = {key: jnp.asarray(value) for key, value in json.load(file).items()}
    data = {key: value if key == "county" else jnp.asarray(value, float) for key, value in data.items()}
    # numpyro compiles at each run; the second one finds what the first one has compiled.
    jax.config.update("jax_compilation_cache_dir", f"{folder}/programs")
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jnp.zeros(1).block_until_ready()
    mcmc = MCMC(
        NUTS(globals()[name]), num_warmup=1000, num_samples=1000, num_chains=4, chain_method="parallel",
        progress_bar=False, jit_model_args=True,
    )
    seconds = []
    for seed in (1, 2):
        before = now()
        mcmc.run(jax.random.PRNGKey(seed), extra_fields=("num_steps",), **data)
        found = mcmc.get_samples(group_by_chain=True)
        jax.block_until_ready(found)
        seconds.append(now() - before)
        if seed == 1:
            kept = [np.asarray(found[key]).reshape(4, 1000, -1) for key in ORDER[name]]
            draws = np.concatenate(kept, axis=2)
            steps = int(mcmc.get_extra_fields()["num_steps"].sum())
    draws.astype("<f8").tofile(f"{folder}/draws.bin")
    with open(f"{folder}/times.json", "w") as file:
        json.dump(
            {
                "shape": list(draws.shape), "whole": list(seconds[0]), "sampling": list(seconds[1]), "steps": steps,
            }, file
        )


main()
