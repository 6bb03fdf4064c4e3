//! Why a routine was not called.

use crate::int::Int;
use std::fmt;
use std::io;

/// Names a LAPACK: a file, or the word for one of the places where one may be (`library/candidates.rs`).
pub const VARIABLE: &str = "XLAFFI_LAPACK";

/// A library that was not taken.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Where it was looked for.
    pub place: &'static str,
    /// Its file, or what was asked of the system.
    pub path: String,
    /// What it lacks.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.place, self.path, self.why)
    }
}

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
    /// No LAPACK that was found can be used.
    NoLibrary {
        /// What [`VARIABLE`] asks for.
        asked: Option<String>,
        /// Those that were found.
        refused: Vec<Refused>,
    },
    /// There is no memory for copies in double precision.
    NoCopy,
}

/// Values of `info` that LAPACK never has: there is no library, there is no memory for a copy.
pub(crate) const NO_LIBRARY: Int = Int::MIN;
pub(crate) const NO_MEMORY: Int = Int::MIN + 1;

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
            Error::NoLibrary { asked, refused } => {
                f.write_str("no LAPACK can be used")?;
                if let Some(asked) = asked {
                    write!(f, " ({} is \"{asked}\")", VARIABLE)?;
                }
                if refused.is_empty() {
                    f.write_str(": none was found")?;
                }
                for (i, refused) in refused.iter().enumerate() {
                    write!(f, "{} {refused}", if i == 0 { ":" } else { ";" })?;
                }
                Ok(())
            }
            Error::NoCopy => f.write_str("no memory for copies in double precision"),
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
