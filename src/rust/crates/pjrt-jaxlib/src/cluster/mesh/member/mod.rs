//! Every process's side: how it comes in, what it knows of the others, and how it leaves.

mod agreement;
mod announced;
mod ending;
mod hearing;
mod join;
mod link;
mod links;
mod mesh;
mod place;

pub(super) use ending::explain;
pub(super) use join::join;
pub(crate) use mesh::{Exchanging, Mesh};
pub use mesh::{Peer, Status};
pub(crate) use place::part;
pub(super) use place::Joining;
pub use place::{leave, status};
