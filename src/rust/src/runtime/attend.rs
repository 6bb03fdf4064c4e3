//! Attending to programs: from when on they may ask for R, and where R waits in the included plugin.

use std::time::Duration;

use super::idle;
use super::on_r::on_r;
use super::serve::{in_use, interrupt_again, note_use, serve_waiting};

/// Tells that programs may ask for R: what R's thread waits for may need R then.
pub fn start() {
    note_use();
    idle::watch();
}

/// Serves where R's thread waits in the included plugin for a host that is not ours: no jump must pass
/// the frames of that. And runs handlers of others that programs of ours call.
pub fn serve_in_plugin() {
    pjrt_jaxlib::attend_by(pjrt_jaxlib::Attendant {
        is_here: || in_use() && main_thread::is_here(),
        attend: |turn| {
            /// Whoever asks wakes the thread, so this matters only where that is missed.
            const TURN: Duration = Duration::from_millis(500);
            {
                let _attending = main_thread::attend();
                while !turn(TURN) {
                    serve_waiting();
                }
            }
            interrupt_again();
        },
        run: on_r,
    });
}
