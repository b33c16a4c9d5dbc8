//! Components with a few bytes changed: each is refused with a reason, or plays without a host fault,
//! the same in a pool and on demand.

use arena_sandbox::{Host, HostOptions, LoadError, Seats, admit, play, seed};

/// Own, so that the stream never changes with a crate.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// One to three bytes changed, or a piece cut out, or the end cut off.
fn mutated(original: &[u8], luck: &mut SplitMix) -> Vec<u8> {
    let mut bytes = original.to_vec();
    match luck.below(8) {
        0 => bytes.truncate(luck.below(original.len())),
        1 => {
            let at = luck.below(original.len() - 16);
            bytes.drain(at..at + 1 + luck.below(15));
        }
        _ => {
            for _ in 0..=luck.below(3) {
                let at = luck.below(bytes.len());
                bytes[at] = luck.next() as u8;
            }
        }
    }
    bytes
}

fn ends(host: &Host, bytes: &[u8], at: &str) -> Option<Vec<u8>> {
    let admitted = match admit(bytes) {
        Ok(admitted) => admitted,
        Err(rejection) => {
            assert!(!rejection.refusals.is_empty(), "{at}");
            assert!(rejection.to_string().len() < 20_000, "{at}");
            return None;
        }
    };
    match host.load(&admitted) {
        Err(LoadError::Rejected(_)) => None,
        Err(LoadError::Host(fault)) => panic!("{at}: {fault}"),
        Ok(strategy) => {
            let pack = arena_benches::pack("two-spikes");
            let played = play(&strategy, &pack, seed("0").expect("a seed"));
            Some(played.unwrap_or_else(|fault| panic!("{at}: {fault}")).log.to_bytes())
        }
    }
}

#[test]
fn a_changed_component_is_refused_or_plays() {
    let pooled = Host::new(&HostOptions::new(Seats::Pooled(1))).expect("a host");
    let on_demand = Host::new(&HostOptions::new(Seats::OnDemand)).expect("a host");
    let original = arena_benches::logging_component();
    let mut played = 0;
    for number in 0..600 {
        let bytes = mutated(&original, &mut SplitMix(number));
        let at = format!("mutation {number}");
        let (one, other) = (ends(&pooled, &bytes, &at), ends(&on_demand, &bytes, &at));
        assert!(one == other, "{at}: the pool and on demand differ");
        played += u32::from(one.is_some());
    }
    assert!(played > 20, "only {played} of the changed components play: the mutations are too coarse");
}

#[test]
fn bytes_at_random_are_refused() {
    for number in 0..2_000 {
        let mut luck = SplitMix(number);
        let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
        bytes.extend((0..luck.below(200)).map(|_| luck.next() as u8));
        assert!(admit(&bytes).is_err(), "random bytes {number}");
    }
}
