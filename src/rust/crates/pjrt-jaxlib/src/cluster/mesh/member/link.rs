//! A connection between two processes.

use crate::cluster::mesh::wire::{Message, LARGEST, PATIENCE};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// A connection to another process.
#[derive(Debug)]
pub(super) struct Link(TcpStream);

impl Link {
    pub fn new(stream: TcpStream, limit: Duration) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self(stream))
    }

    pub fn send(&self, message: &Message) -> io::Result<()> {
        message.send(&self.0)
    }

    pub fn receive(&self) -> io::Result<Message> {
        Message::receive(&self.0, LARGEST)
    }

    /// Ends what waits for it, here and there.
    pub fn close(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
