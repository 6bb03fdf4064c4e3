//! The plugin's function table.

mod plugin;
pub(crate) mod table;
