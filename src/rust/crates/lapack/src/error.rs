//! Why a routine was not called, and what one says of its arguments.

use crate::sys::Int;
use std::fmt;
use std::io;

/// Why there is no result.
#[derive(Debug)]
pub enum Error {
    /// A matrix needs more workspace than LAPACK's integers can count.
    TooLarge {
        /// Its rows.
        rows: Int,
        /// Its columns.
        cols: Int,
    },
    /// There is no memory to work in.
    NoMemory {
        /// How much was asked for.
        bytes: usize,
    },
    /// No thread with room on its stack could be started.
    NoThread(io::Error),
    /// A routine blames one of our arguments.
    Refused {
        /// Its name, without the letter of the dtype.
        routine: &'static str,
        /// The argument, counted from 1.
        argument: u32,
    },
}

/// A result that LAPACK's side may not have.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLarge { rows, cols } => write!(
                f,
                "a matrix of {rows} x {cols} needs more workspace than LAPACK's integers can count"
            ),
            Error::NoMemory { bytes } => write!(f, "no memory for {bytes} bytes of workspace"),
            Error::NoThread(error) => write!(f, "cannot start a thread for LAPACK: {error}"),
            Error::Refused { routine, argument } => {
                write!(f, "LAPACK's {routine} refused its argument {argument}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::NoThread(error) => Some(error),
            _ => None,
        }
    }
}

/// A negative `info` blames an argument of ours.
///
/// # Errors
/// It is negative.
#[inline]
pub fn refuse_negative(info: Int, routine: &'static str) -> Result<()> {
    if info >= 0 {
        return Ok(());
    }
    Err(Error::Refused {
        routine,
        argument: info.unsigned_abs(),
    })
}
