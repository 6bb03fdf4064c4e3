//! What several tests use.

use std::sync::Mutex;

/// The gate and the looks are shared by all tests of this file.
pub static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
