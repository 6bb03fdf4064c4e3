//! Running a command for a limited time.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What a process wrote.
pub(super) struct Written {
    pub out: String,
    pub err: String,
}

/// Runs a command to its end, or for at most `patience`.
pub(super) fn run(
    command: &mut Command,
    patience: Duration,
) -> Result<(ExitStatus, Written), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot be run: {e}"))?;
    // The pipes are read on their own threads, so that a silent child cannot hold this one.
    let out = child.stdout.take().map(reader);
    let err = child.stderr.take().map(reader);
    let status = wait(&mut child, patience)?;
    let text = |reader: Option<JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|r| r.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let written = Written {
        out: text(out),
        err: text(err),
    };
    Ok((status, written))
}

fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before a failure is all there is.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits for the child for at most `patience`, then ends it.
fn wait(child: &mut Child, patience: Duration) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if start.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Ok(None) => {
                // A failure here means that it has ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("gave no answer within {} s", patience.as_secs()));
            }
            Err(e) => return Err(format!("cannot be waited for: {e}")),
        }
    }
}
