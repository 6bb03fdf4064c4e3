//! Signatures by chance, met by shapes by chance, beside a reference that tries all values of all
//! names. `XLAFFI_FUZZ_SECONDS` goes on for a time, `XLAFFI_FUZZ_SEED` elsewhere.

#[path = "../common/rng.rs"]
mod rng;

mod bind;
mod length;
mod model;
