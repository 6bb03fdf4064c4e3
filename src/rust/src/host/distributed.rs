//! Several processes that compute together.

use pjrt_jaxlib::mesh;

use crate::host::plugin::{options, PluginObject};
use crate::host::run::{Done, Run};
use crate::r::entry::routines;
use crate::r::pointer::{get, wrap};
use crate::r::value::{named, Value};

routines! {
    // How long collectives shall wait for other processes; whether XLA is still to be loaded, and will know it.
    fn distributed_wait(seconds: f64) {
        Ok(Value::from(mesh::collectives_wait(seconds as u64)))
    }

    // A client for the devices of all processes, when all have come: a run.
    fn distributed_join(plugin, platform: &str, names, values) {
        let object: &PluginObject = get(plugin, "plugin")?;
        let (plugin, options) = (object.plugin.clone(), options(names, values)?);
        let platform = platform.to_owned();
        let cancel = mesh::CancelToken::default();
        let joining = cancel.clone();
        let run = Run::join(cancel, move || {
            let client = joining.during(|| plugin.client(&options))?;
            Ok(Done::Joined(client, platform.clone()))
        })?;
        Ok(wrap(run))
    }

    // Who is there; NULL where this process is alone.
    fn distributed_status() {
        let Some(status) = mesh::status() else {
            return Ok(Value::Null);
        };
        let all = &status.processes;
        let texts = |field: fn(&mesh::Peer) -> &str| -> Value {
            Value::Texts(all.iter().map(|peer| Some(field(peer).to_owned())).collect())
        };
        let gone = all.iter().map(|peer| peer.gone.clone()).collect();
        let left = all.iter().map(|peer| i32::from(peer.has_left)).collect();
        Ok(named! {
            process = status.process as i32,
            coordinator = status.coordinator.clone(),
            collectives = status.collectives,
            trouble = status.trouble.clone().map_or(Value::Null, Value::from),
            host = texts(|peer| &peer.host),
            pid = texts(|peer| &peer.pid),
            address = texts(|peer| &peer.address),
            devices = texts(|peer| &peer.devices),
            left = Value::Integers(left),
            gone = Value::Texts(gone),
        })
    }

    // Leaves; the others are told.
    fn distributed_leave() {
        mesh::leave();
        Ok(())
    }
}
