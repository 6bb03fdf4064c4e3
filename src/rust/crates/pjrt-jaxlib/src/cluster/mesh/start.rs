//! The start of a mesh: XLA's client for the devices of all processes.

use super::cancel::CancelToken;
use super::member::{self, Joining, Mesh};
use super::runtime::{runtime, Runtime};
use super::signal;
use super::Settings;
use crate::base::error::{explain_by, Error, Result};
use crate::python::compat::Jaxlib;
use crate::python::gil::{blocking, Gil};
use crate::python::object::Object;
use crate::run::signal::in_background;
use std::sync::Arc;

/// What all processes must have alike.
const PROTOCOL: u32 = 4;

/// Joins the mesh, and makes jaxlib's client of all its devices.
pub(crate) fn start(
    jax: &'static Jaxlib,
    settings: &Settings,
    devices: i64,
    asynchronous: bool,
) -> Result<(Object, Arc<Mesh>)> {
    if !cfg!(unix) {
        return Err(Error::unimplemented(
            "several processes need Linux or macOS: XLA has no collectives between processes elsewhere",
        ));
    }
    explain_by(member::explain);
    let cancel = CancelToken::current();
    let joining = blocking(|| Joining::begin(&cancel))?;
    let runtime = runtime(jax)?;
    let version = format!(
        "xlaffi {}, jaxlib {}, {}, protocol {PROTOCOL}",
        env!("CARGO_PKG_VERSION"),
        jax.version,
        settings.collectives.name()
    );
    let host = &runtime.host;
    let mesh = blocking(|| member::join(settings, version, host, devices, &cancel))?;
    signal::answer();
    let made = runtime.make(&mesh, devices, asynchronous);
    let made = made.and_then(|client| cancel.end().map(|()| client));
    match &made {
        Ok(_) => joining.end(&mesh),
        Err(error) => {
            mesh.fail(&format!("it could not make a client: {}", error.message));
            blocking(|| mesh.part());
        }
    }
    made.map(|client| (client, mesh))
}

impl Runtime {
    fn make(&'static self, mesh: &Arc<Mesh>, devices: i64, asynchronous: bool) -> Result<Object> {
        let settings = &mesh.settings;
        blocking(|| mesh.link())?;
        // For the threads that XLA and gloo start.
        let _blocked = signal::Blocked::new();
        let gil = self.jax.gil()?;
        let port = gil.call(
            &self.open,
            [
                &gil.string(&mesh.address.to_string())?,
                &gil.string(settings.collectives.name())?,
                &gil.int(mesh.number)?,
            ],
        )?;
        // Every process knows the others' ports before XLA connects to them.
        let key = |process: u32| format!("port/{process}");
        mesh.set(&key(settings.process), port.text(&gil)?.into_bytes());
        let others = (0..settings.processes).filter(|p| *p != settings.process);
        let ports: Vec<Object> = others
            .map(|process| {
                let port = blocking(|| mesh.get(&key(process)))?;
                gil.string(&String::from_utf8_lossy(&port))
            })
            .collect::<Result<_>>()?;
        let carrier = Arc::clone(mesh);
        in_background("xlaffi-mesh-carry", move || self.carry(&carrier))?;
        gil.call(
            &self.client,
            [
                &gil.int(devices)?,
                &gil.bool(asynchronous)?,
                &gil.int(settings.process.into())?,
                &gil.int(settings.processes.into())?,
                &gil.list(ports.iter())?,
            ],
        )
        .map_err(|error| mesh.check(&[]).err().unwrap_or(error))
        .inspect(|_client| mesh.connected())
    }

    /// Carries what XLA tells the other processes to them, and what they tell to XLA.
    fn carry(&self, mesh: &Arc<Mesh>) {
        while let Some(fresh) = mesh.fresh() {
            let carried = self
                .jax
                .gil()
                .and_then(|gil| self.carry_once(&gil, mesh, fresh));
            if let Err(error) = carried {
                return mesh.fail(&format!("it cannot tell the others: {}", error.message));
            }
        }
    }

    fn carry_once(&self, gil: &Gil, mesh: &Mesh, fresh: Vec<(String, Vec<u8>)>) -> Result<()> {
        let mut incoming = Vec::new();
        for (key, value) in fresh.iter().filter(|(key, _)| key.starts_with(XLA)) {
            incoming.push(gil.list([gil.string(key)?, gil.bytes(value)?].iter())?);
        }
        let outgoing = gil.call(&self.exchange, [&gil.list(incoming.iter())?])?;
        for pair in outgoing.items(gil)? {
            if let [key, value] = &pair.items(gil)?[..] {
                mesh.set(&key.text(gil)?, value.to_bytes(gil)?);
            }
        }
        Ok(())
    }
}

/// The keys of XLA's own.
const XLA: &str = "cpu:";
