//! `xlaffi_process`: a compiler at work, which ends with the object that R holds of it.

use std::cell::RefCell;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::r::entry::routines;
use crate::r::failure::{Failure, Outcome};
use crate::r::object::texts;
use crate::r::pointer::{class, get, wrap};
use crate::r::value::Value;

struct Process(RefCell<Child>);

class!(Process, c"xlaffi_process", "a process");

impl Process {
    /// Ends it, and what it started.
    fn stop(&self) {
        let mut child = self.0.borrow_mut();
        if matches!(child.try_wait(), Ok(None)) {
            #[cfg(unix)]
            // SAFETY: the group that the child was started as the leader of; it has not been waited
            // for, so that its number is nobody else's.
            unsafe {
                libc::kill(-(child.id() as i32), libc::SIGKILL);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(command: &mut Command, folder: &str, output: &str) -> Outcome<Process> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| {
        Failure::new("NOT_FOUND", format!("cannot run `{program}`: {error}"))
    };
    let file = File::create(output).map_err(failed)?;
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(failed)?)
        .stderr(file);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    Ok(Process(RefCell::new(command.spawn().map_err(failed)?)))
}

routines! {
    // Starts a program in a folder; `environment` are `NAME=value`. What it writes goes to a file.
    fn process_start(program: &str, arguments, folder: &str, environment, output: &str) {
        let mut command = Command::new(program);
        command.args(texts(arguments).into_iter().flatten());
        let pairs = texts(environment).into_iter().flatten();
        command.envs(pairs.filter_map(|pair| pair.split_once('=')));
        start(&mut command, folder, output).map(wrap)
    }

    // The exit status if it comes within `seconds`, else NULL; -1 where a signal ended it.
    fn process_wait(process, seconds: f64) {
        let Process(child) = get(process, "process")?;
        let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        loop {
            let status = child.borrow_mut().try_wait();
            match status.map_err(|error| Failure::new("INTERNAL", error))? {
                Some(status) => return Ok(Value::from(status.code().unwrap_or(-1))),
                None if Instant::now() >= end => return Ok(Value::Null),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    // Ends it, unless it has ended.
    fn process_stop(process) {
        get::<Process>(process, "process")?.stop();
        Ok(())
    }
}
