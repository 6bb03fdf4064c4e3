//! Several devices and several processes: launches in order, what their handlers fail with, and the mesh.

pub(crate) mod guard;
pub(crate) mod launch;
pub mod mesh;
