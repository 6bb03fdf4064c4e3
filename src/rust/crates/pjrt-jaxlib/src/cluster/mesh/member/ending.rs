//! How a process leaves, and what ends the others' programs.

use super::mesh::Mesh;
use super::place::joined;
use crate::base::error::Error;
use crate::cluster::mesh::runtime;
use crate::cluster::mesh::signal;
use crate::cluster::mesh::wire::Message;
use crate::run::signal::in_background;
use pjrt_api::PJRT_Error_Code;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// What an error of XLA's is about that comes from gloo. From then on nothing can be exchanged any more: what others sent for
/// this collective would be taken for the next one's.
pub(crate) fn explain(text: &str) -> Option<Error> {
    const COLLECTIVE: &str = "Gloo ";
    let mesh = text.contains(COLLECTIVE).then(joined).flatten()?;
    // Who it was is known a moment after its connections have closed.
    let known = mesh.wait(Duration::from_secs(2), |state| {
        let left = state.peers.iter().position(|p| p.has_left);
        let left = left.map(|p| format!("process {p} has left the mesh"));
        state.trouble.clone().or(left)
    });
    let late = ["Timed out", "timed out", "timeout"];
    let (code, why) = match known {
        Some(why) => (PJRT_Error_Code::UNAVAILABLE, why),
        None if late.iter().any(|t| text.contains(t)) => (
            PJRT_Error_Code::DEADLINE_EXCEEDED,
            "another process did not come in time".to_owned(),
        ),
        None => (
            PJRT_Error_Code::UNAVAILABLE,
            "another process cannot be reached".to_owned(),
        ),
    };
    mesh.fail(&format!("a collective ended with an error: {why}"));
    let text = text.lines().next().unwrap_or(text);
    Some(Error {
        code,
        message: format!("a collective over several processes failed: {why} ({text})"),
        own: false,
    })
}

/// For so long a program that is under way may take to end when its connections are closed for reading.
const PATIENCE: Duration = Duration::from_secs(1);

impl Mesh {
    pub(super) fn lost(self: &Arc<Self>, error: &std::io::Error) {
        let state = self.state();
        // A coordinator that has left is missed only where it is needed.
        if state.has_left || state.peers.first().is_some_and(|p| p.has_left) {
            return;
        }
        drop(state);
        let silent = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        self.broken(
            0,
            if silent {
                let limit = self.settings.limits.heartbeat.as_secs();
                format!("it gave no sign of life for {limit} s")
            } else {
                "its connection is closed: it ended or was killed".to_owned()
            },
        );
    }

    /// Notes why the processes cannot go on together, and ends what waits for the others.
    pub(super) fn broken(self: &Arc<Self>, process: u32, why: String) {
        let mut state = self.state();
        if state.has_left || state.trouble.is_some() {
            return;
        }
        let coordinator = if process == 0 {
            ", the coordinator,"
        } else {
            ""
        };
        let who = if process == self.settings.process {
            format!("this process, number {process},")
        } else {
            format!("process {process}{coordinator}")
        };
        state.trouble = Some(format!("{who} is gone: {why}"));
        state.troubled = Some(Instant::now());
        if let Some(peer) = state.peers.get_mut(process as usize) {
            peer.gone = Some(why);
        }
        drop(state);
        self.changed.notify_all();
        self.close_links();
        // What cannot be ended so is given up by who watches the launches (`launch/watch.rs`).
        let mesh = Arc::clone(self);
        let _ = in_background("xlaffi-mesh-end", move || mesh.end_exchange());
    }

    /// Closes what data are exchanged by, until nothing waits for them any more: gloo may be making more connections.
    fn end_exchange(&self) {
        const PAUSE: Duration = Duration::from_millis(100);
        let began = Instant::now();
        loop {
            runtime::close(self.number, began.elapsed() > PATIENCE);
            if !self.is_under_way() || began.elapsed() > self.settings.limits.collective {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The others cannot go on with this process: it has not taken its part.
    pub fn fail(self: &Arc<Self>, why: &str) {
        // Where it cannot be told, the connection is closed, which tells it too.
        self.send(&Message::Gone(self.settings.process, why.to_owned()));
        self.broken(self.settings.process, why.to_owned());
    }

    pub(super) fn leave(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.has_left, true) {
            drop(state);
            let process = self.settings.process as usize;
            let is_under_way = self.is_under_way();
            let message = match is_under_way {
                // As after Ctrl-C: the others wait for what this process would have sent.
                true => {
                    let why =
                        "it left, or ended, while a program over several processes was under way";
                    Message::Gone(process as u32, why.to_owned())
                }
                false => Message::Left(process as u32),
            };
            if self.send(&message) {
                // Passed on by a thread that the end of the process would end.
                self.wait(Duration::from_secs(1), |state| {
                    let known = state.peers[process].has_left || state.trouble.is_some();
                    known.then_some(())
                });
            }
            self.changed.notify_all();
            self.close_links();
            // The others end first: what they write shall still arrive.
            let began = Instant::now();
            while is_under_way && self.is_under_way() && began.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            if self.state().trouble.is_none() {
                runtime::finish(self.number);
            } else {
                runtime::close(self.number, true);
            }
        }
    }

    /// Leaves for good: no thread and no port of the mesh remains.
    pub fn part(&self) {
        self.leave();
        let _ = self.stream.shutdown(Shutdown::Both);
        let listener = self
            .listener
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(listener);
        signal::restore();
    }
}
