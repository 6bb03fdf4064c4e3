//! What running a program needs of jaxlib.

use crate::array::shape::{facts, Shape};
use crate::base::error::{Error, Result};
use crate::client::Client;
use crate::program::frame::Frames;
use crate::python::gil::Gil;
use crate::python::object::Object;

/// What running a program needs of jaxlib.
pub(crate) struct Runner {
    /// `execute_sharded` of the executable.
    pub execute: Object,
    /// What makes arrays of the results.
    pub handlers: Object,
    pub frames: Frames,
    /// What a program for more than one device needs.
    pub over: Option<Over>,
}

/// What makes arrays over several devices.
pub(crate) struct Over {
    pub sharding: Object,
    /// What an array of each parameter is.
    pub parameters: Object,
    /// Whether runs can be given an id.
    pub takes_ids: bool,
}

/// A shape as Python gets it: sizes and the name of the dtype.
pub(super) fn described(gil: &Gil, shape: &Shape) -> Result<[Object; 2]> {
    let dims = shape.dims.iter().map(|&d| gil.int(d));
    let dims = dims.collect::<Result<Vec<Object>>>()?;
    Ok([gil.list(dims.iter())?, gil.string(facts(shape.ty)?.numpy)?])
}

impl Over {
    pub fn new(
        gil: &Gil,
        client: &Client,
        executable: &Object,
        devices: &[i64],
        parameters: &[Shape],
    ) -> Result<Self> {
        let parameters = parameters
            .iter()
            .map(|shape| gil.list(described(gil, shape)?.iter()))
            .collect::<Result<Vec<Object>>>()?;
        let devices = client.python_devices(gil, devices)?;
        let made = gil.call(
            &client.jax.over_devices,
            [executable, &devices, &gil.list(parameters.iter())?],
        )?;
        let mut made = made.items(gil)?.into_iter();
        match (made.next(), made.next()) {
            (Some(sharding), Some(parameters)) => Ok(Self {
                sharding,
                parameters,
                takes_ids: client.jax.takes_launch_ids.is_true(gil)?,
            }),
            _ => Err(Error::internal("over_devices gave no two objects")),
        }
    }
}
