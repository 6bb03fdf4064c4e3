//! What does not fit into memory, in a file that goes with the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Texts in a temporary file, first in, first out.
pub(super) struct Spill {
    file: Option<File>,
    /// Where the oldest text begins.
    start: u64,
    /// Where the next one will.
    end: u64,
}

impl Spill {
    pub(super) const fn new() -> Self {
        Self {
            file: None,
            start: 0,
            end: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Appends a text: its length, then its bytes.
    pub(super) fn push(&mut self, text: &str) -> io::Result<()> {
        let end = self.end;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(temporary()?),
        };
        file.seek(SeekFrom::Start(end))?;
        file.write_all(&(text.len() as u64).to_le_bytes())?;
        file.write_all(text.as_bytes())?;
        self.end = file.stream_position()?;
        Ok(())
    }

    /// The oldest text, `None` where there is none. The file goes with its last one.
    pub(super) fn pop(&mut self) -> io::Result<Option<String>> {
        let Some(file) = self.file.as_mut().filter(|_| self.start < self.end) else {
            return Ok(None);
        };
        file.seek(SeekFrom::Start(self.start))?;
        let mut length = [0; 8];
        file.read_exact(&mut length)?;
        let mut text = String::new();
        let length = u64::from_le_bytes(length);
        file.take(length).read_to_string(&mut text)?;
        self.start += 8 + length;
        if self.is_empty() {
            *self = Self::new();
        }
        Ok(Some(text))
    }
}

/// A file that nobody else can open, gone when it is closed.
fn temporary() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let process = std::process::id();
    for attempt in 0.. {
        let path = folder.join(format!("xlaffi-{process}-{attempt}.txt"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        #[cfg(windows)]
        {
            const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
            std::os::windows::fs::OpenOptionsExt::custom_flags(
                &mut options,
                FILE_FLAG_DELETE_ON_CLOSE,
            );
        }
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
            Err(error) => return Err(error),
            Ok(file) => {
                #[cfg(unix)]
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
        }
    }
    unreachable!("the last attempt returns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_order_and_the_file_starts_anew() {
        let mut spill = Spill::new();
        assert!(spill.is_empty());
        assert_eq!(spill.pop().unwrap(), None);
        for turn in 0..3 {
            let texts: Vec<String> = (0..50)
                .map(|i| format!("{turn} ü {i}\n").repeat(i))
                .collect();
            for text in &texts[..30] {
                spill.push(text).unwrap();
            }
            for text in &texts[..10] {
                assert_eq!(spill.pop().unwrap().as_ref(), Some(text));
            }
            for text in &texts[30..] {
                spill.push(text).unwrap();
            }
            for text in &texts[10..] {
                assert_eq!(spill.pop().unwrap().as_ref(), Some(text));
            }
            assert!(spill.is_empty() && spill.file.is_none());
        }
    }
}
