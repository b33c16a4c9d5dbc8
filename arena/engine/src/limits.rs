//! What a guest is allowed, as versioned data. An episode pins the version it was played under, so
//! a row never changes: a new allowance is a new row.

/// One row of the table. Bytes, fuel and counts; each field says what happens when it is hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Version of this row.
    pub version: u32,
    /// Size of a component. Larger: refused before it is read.
    pub component_bytes_max: u64,
    /// Linear memory of a seat, all its memories together. Growth beyond: -1 to the guest; if it
    /// traps afterwards, the forfeit names the limit.
    pub memory_bytes_max: u64,
    /// Elements of all tables together. Growth beyond: -1 to the guest.
    pub table_elements_max: u32,
    /// Fuel for instantiation and the brief. Spent: the episode is forfeited.
    pub brief_fuel_max: u64,
    /// Fuel for the notices and the action of one turn. Spent: this turn and the rest are
    /// forfeited. What is left does not carry over.
    pub turn_fuel_max: u64,
    /// Fuel for all turns together. Spent: as `turn_fuel_max`.
    pub episode_fuel_max: u64,
    /// Log text kept per turn. The rest is dropped and counted, never a forfeit.
    pub turn_log_bytes_max: u32,
    /// Log text kept per episode. The rest is dropped and counted.
    pub episode_log_bytes_max: u32,
    /// Strings and lists a guest hands over, other than log text. Larger: unreadable.
    pub guest_text_bytes_max: u32,
    /// CPU time of one call. Two orders of magnitude above what the fuel can take, so it is hit
    /// only where fuel does not count; the forfeit is marked as depending on the build.
    pub call_cpu_seconds_max: u32,
    /// Fuel of one call into the host's log or WASI, apart from its bytes.
    pub host_call_fuel: u64,
}

/// The first row.
pub const V1: Limits = Limits {
    version: 1,
    component_bytes_max: 32 << 20,
    memory_bytes_max: 64 << 20,
    table_elements_max: 10_000,
    brief_fuel_max: 200_000_000,
    turn_fuel_max: 20_000_000,
    episode_fuel_max: 500_000_000,
    turn_log_bytes_max: 8 << 10,
    episode_log_bytes_max: 256 << 10,
    guest_text_bytes_max: 1 << 20,
    call_cpu_seconds_max: 600,
    host_call_fuel: 200,
};

const _: () =
    assert!(V1.brief_fuel_max >= V1.turn_fuel_max, "a guest must be able to afford its own briefing");
const _: () = assert!(V1.episode_fuel_max >= V1.turn_fuel_max, "one full turn must fit the episode");
const _: () = assert!(V1.memory_bytes_max.is_multiple_of(65_536), "memory is sold in whole pages");
const _: () = assert!(V1.episode_log_bytes_max >= V1.turn_log_bytes_max, "one full turn of log must fit");

/// The row of that version, if there is one.
pub fn limits(version: u32) -> Option<&'static Limits> {
    match version {
        1 => Some(&V1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    /// A row that changed would change what old logs mean.
    #[test]
    fn rows_are_frozen() {
        let row = format!("{:?}", super::V1);
        assert_eq!(
            row,
            "Limits { version: 1, component_bytes_max: 33554432, memory_bytes_max: 67108864, \
             table_elements_max: 10000, brief_fuel_max: 200000000, turn_fuel_max: 20000000, \
             episode_fuel_max: 500000000, turn_log_bytes_max: 8192, episode_log_bytes_max: 262144, \
             guest_text_bytes_max: 1048576, call_cpu_seconds_max: 600, host_call_fuel: 200 }"
        );
    }
}
