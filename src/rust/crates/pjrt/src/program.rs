//! Programs before compilation.

use crate::error::{Code, Error, Kind, Result};
use programs::Reductions;
use std::path::Path;
use std::sync::Arc;

/// How a program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramFormat {
    /// StableHLO, as text or as MLIR bytecode.
    Mlir,
    /// A serialised `HloModuleProto`.
    Hlo,
}

impl ProgramFormat {
    /// The name in the C API, which is also the one that users see.
    pub fn name(self) -> &'static str {
        match self {
            ProgramFormat::Mlir => "mlir",
            ProgramFormat::Hlo => "hlo",
        }
    }
}

/// A program: its bytes and how they are to be read. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    code: Arc<[u8]>,
    format: ProgramFormat,
}

impl Program {
    /// A program from its bytes.
    pub fn new(code: impl Into<Vec<u8>>, format: ProgramFormat) -> Self {
        Self {
            code: code.into().into(),
            format,
        }
    }

    /// A program from a file.
    ///
    /// # Errors
    /// `NOT_FOUND` where the file cannot be read.
    pub fn read(path: &Path, format: ProgramFormat) -> Result<Self> {
        let code = std::fs::read(path).map_err(|e| {
            Error::new(
                Kind::MissingFile,
                Code::NOT_FOUND,
                format!("the program `{}` cannot be read: {e}", path.display()),
            )
        })?;
        Ok(Self::new(code, format))
    }

    /// The program's bytes.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Whether a word is in it, however it is written.
    pub fn names(&self, word: &str) -> bool {
        programs::contains(&self.code, word.as_bytes())
    }

    /// How XLA's CPU is to reduce its arrays.
    pub fn reductions(&self) -> Reductions {
        Reductions::of(&self.code, self.format == ProgramFormat::Hlo)
    }

    /// Whether it may take the memory of an argument for a result. StableHLO names what says so;
    /// of other formats nothing is known.
    pub(crate) fn may_donate(&self) -> bool {
        self.format == ProgramFormat::Hlo
            || ["donor", "aliasing_output", "output_alias"]
                .into_iter()
                .any(|word| self.names(word))
    }

    /// How it is written.
    pub fn format(&self) -> ProgramFormat {
        self.format
    }
}
