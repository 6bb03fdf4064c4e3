//! The ops as a shared library for hosts other than R (JAX in Python, a GPU machine without R).
