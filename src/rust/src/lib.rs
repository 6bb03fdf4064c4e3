//! R glue of xlaffi.
