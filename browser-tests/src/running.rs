//! A process, and whatever it starts, that ends with a value.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};

/// A process in a group of its own.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let started = command.process_group(0).spawn();
        Self(started.unwrap_or_else(|why| panic!("cannot start {}: {why}", command.get_program().display())))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    free.expect("a port is free").port()
}
