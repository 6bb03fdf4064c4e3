//! Printing buffers: the text ([`format_buffer`]) and where it goes ([`queue_output`]).

mod format;
mod number;
mod queue;
mod spill;
pub(crate) mod tensor;

#[cfg(test)]
mod tests;

pub use format::{dtype_label, format_buffer, Options};
pub(crate) use queue::emit;
pub use queue::{drain, is_waiting, queue_output, show_on, Console};
