//! What goes over `/dev/cpb-runner`: the structure, numbers and flags of `lab/kmod/cpb_runner.h`, which documents them.

use libc::Ioctl;

/// `CPB_RUN`.
pub(super) const RUN: Ioctl = libc::_IOWR::<Run>(0xCB, 2);

/// `CPB_RUNNER_VERSION`.
pub(super) const VERSION: u32 = 3;
/// `CPB_MAX_MESSAGE`.
pub(super) const MAX_MESSAGE: u32 = 64 << 10;
/// `CPB_MAX_ASSOCIATED`.
pub(super) const MAX_ASSOCIATED: u32 = 4096;
/// `CPB_MAX_BATCHES`.
pub(super) const MAX_BATCHES: u32 = 4096;
/// `CPB_MAX_KEYS`.
pub(super) const MAX_KEYS: usize = 4096;
/// `CPB_MAX_KEY`.
pub(super) const MAX_KEY: usize = 512;
/// `CPB_NAME`, the room for a driver's name, with the 0 that ends it.
pub(super) const NAME: usize = 128;
/// `CPB_WORDS`.
const WORDS: usize = 128;

/// `CPB_SKCIPHER`.
pub(super) const SKCIPHER: u32 = 1;
/// `CPB_AHASH`.
pub(super) const AHASH: u32 = 2;
/// `CPB_SHASH`.
pub(super) const SHASH: u32 = 3;
/// `CPB_AEAD`.
pub(super) const AEAD: u32 = 4;

/// `CPB_ENCRYPT`.
pub(super) const ENCRYPT: u32 = 1;
/// `CPB_DECRYPT`.
pub(super) const DECRYPT: u32 = 2;
/// `CPB_DIGEST`.
pub(super) const DIGEST: u32 = 3;

/// `CPB_BUILD_BEFORE`.
pub(super) const BUILD_BEFORE: u32 = 1 << 0;
/// `CPB_NOTICE_LAST`.
pub(super) const NOTICE_LAST: u32 = 1 << 1;
/// `CPB_IN_PLACE`.
pub(super) const IN_PLACE: u32 = 1 << 2;
/// `CPB_KEY_EACH`.
pub(super) const KEY_EACH: u32 = 1 << 3;
/// `CPB_CHECK_EACH`.
pub(super) const CHECK_EACH: u32 = 1 << 4;

/// `struct cpb_sample`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Timed {
    pub(super) ns: u64,
    /// Of the kernel's counter of cycles, which on most machines does not count those of the core. Not used.
    pub(super) cycles: u64,
}

/// `struct cpb_steps`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct StepTimes {
    pub(super) operations: u64,
    pub(super) build_ns: u64,
    pub(super) dispatch_ns: u64,
    pub(super) completion_ns: u64,
}

/// `struct cpb_run`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Run {
    pub(super) version: u32,
    pub(super) kind: u32,
    pub(super) operation: u32,
    pub(super) flags: u32,
    pub(super) driver: [u8; NAME],
    pub(super) key_len: u32,
    pub(super) keys: u32,
    pub(super) iv_len: u32,
    pub(super) associated_len: u32,
    pub(super) message_len: u32,
    pub(super) tag_len: u32,
    pub(super) output_len: u32,
    pub(super) jobs: u32,
    pub(super) depth: u32,
    pub(super) batches: u32,
    pub(super) iterations: u32,
    pub(super) latencies: u32,
    pub(super) warmup_ns: u64,
    pub(super) batch_ns: u64,
    pub(super) limit_ns: u64,
    pub(super) counted_ns: u64,
    pub(super) key: u64,
    pub(super) ivs: u64,
    pub(super) inputs: u64,
    pub(super) expected: u64,
    pub(super) outputs: u64,
    pub(super) samples: u64,
    pub(super) alone: u64,
    pub(super) in_flight: u64,
    pub(super) taken: u32,
    pub(super) ran: u32,
    pub(super) operations: u64,
    pub(super) alone_max: u64,
    pub(super) in_flight_max: u64,
    pub(super) backlogged: u64,
    pub(super) synchronous: u64,
    pub(super) steps: StepTimes,
    pub(super) name: [u8; NAME],
    pub(super) words: [u8; WORDS],
}

impl Run {
    /// A run without anything in it.
    pub(super) const EMPTY: Run = Run {
        version: VERSION,
        kind: 0,
        operation: 0,
        flags: 0,
        driver: [0; NAME],
        key_len: 0,
        keys: 0,
        iv_len: 0,
        associated_len: 0,
        message_len: 0,
        tag_len: 0,
        output_len: 0,
        jobs: 0,
        depth: 1,
        batches: 1,
        iterations: 0,
        latencies: 0,
        warmup_ns: 0,
        batch_ns: 0,
        limit_ns: 0,
        counted_ns: 0,
        key: 0,
        ivs: 0,
        inputs: 0,
        expected: 0,
        outputs: 0,
        samples: 0,
        alone: 0,
        in_flight: 0,
        taken: 0,
        ran: 0,
        operations: 0,
        alone_max: 0,
        in_flight_max: 0,
        backlogged: 0,
        synchronous: 0,
        steps: StepTimes { operations: 0, build_ns: 0, dispatch_ns: 0, completion_ns: 0 },
        name: [0; NAME],
        words: [0; WORDS],
    };

    /// Bytes of one job's input: associated data, message, and the tag that is to be verified.
    pub(super) fn input_len(&self) -> usize {
        let tag = if self.operation == DECRYPT { self.tag_len } else { 0 };
        (self.associated_len + self.message_len + tag) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::mem::offset_of;

    const HEADER: &str = include_str!("../../../../lab/kmod/cpb_runner.h");

    /// The number that the header defines as `name`.
    fn defined(name: &str) -> u64 {
        let line = HEADER.lines().find(|line| {
            let mut words = line.split_whitespace();
            let first = words.next();
            (first == Some("#define") && words.next() == Some(name)) || first == Some(name)
        });
        let line = line.unwrap_or_else(|| panic!("the header does not define {name}"));
        let value = line.split_once(name).expect("a name").1;
        let value = value.trim().trim_start_matches('=').trim_end_matches(',').trim();
        let value = value.trim_start_matches('(').trim_end_matches(')');
        match value.split_once("<<") {
            Some((one, by)) => {
                one.trim().parse::<u64>().expect(value) << by.trim().parse::<u32>().expect(value)
            }
            None => value.parse().unwrap_or_else(|_| panic!("{name} is {value}")),
        }
    }

    #[test]
    fn numbers_are_those_of_the_header() {
        for (name, value) in [
            ("CPB_RUNNER_VERSION", VERSION),
            ("CPB_MAX_MESSAGE", MAX_MESSAGE),
            ("CPB_MAX_ASSOCIATED", MAX_ASSOCIATED),
            ("CPB_MAX_BATCHES", MAX_BATCHES),
            ("CPB_MAX_KEYS", MAX_KEYS as u32),
            ("CPB_MAX_KEY", MAX_KEY as u32),
            ("CPB_NAME", NAME as u32),
            ("CPB_WORDS", WORDS as u32),
            ("CPB_SKCIPHER", SKCIPHER),
            ("CPB_AHASH", AHASH),
            ("CPB_SHASH", SHASH),
            ("CPB_AEAD", AEAD),
            ("CPB_ENCRYPT", ENCRYPT),
            ("CPB_DECRYPT", DECRYPT),
            ("CPB_DIGEST", DIGEST),
            ("CPB_BUILD_BEFORE", BUILD_BEFORE),
            ("CPB_NOTICE_LAST", NOTICE_LAST),
            ("CPB_IN_PLACE", IN_PLACE),
            ("CPB_KEY_EACH", KEY_EACH),
            ("CPB_CHECK_EACH", CHECK_EACH),
        ] {
            assert_eq!(defined(name), u64::from(value), "{name}");
        }
        assert!(HEADER.contains("#define CPB_RUN _IOWR(0xCB, 2, struct cpb_run)"));
        assert!(HEADER.contains("#define CPB_BUCKETS (32 * 28)"));
        assert_eq!(cpb_core::sample::BUCKETS, 32 * 28);
    }

    /// Where the header puts the fields of `struct cpb_run`; none needs padding.
    #[test]
    fn fields_are_where_the_header_has_them() {
        let body = HEADER.split("struct cpb_run {").nth(1).expect("the structure");
        let body = body.split("\n};").next().expect("its end");
        let (mut offset, mut fields) = (0, HashMap::new());
        for line in body.lines() {
            let Some(declared) = line.trim().split(';').next().filter(|_| line.contains(';'))
            else {
                continue;
            };
            let (kind, name) = declared.split_once(' ').expect(declared);
            let (name, size) = match (kind, name.split_once('[')) {
                ("__u32", None) => (name, 4),
                ("__u64", None) => (name, 8),
                ("struct", None) => (name.trim_start_matches("cpb_steps "), 32),
                ("char", Some((name, room))) => {
                    (name, defined(room.trim_end_matches(']')) as usize)
                }
                _ => panic!("{declared}"),
            };
            assert_eq!(offset % size.min(8), 0, "{name}");
            fields.insert(name, offset);
            offset += size;
        }
        assert_eq!(offset, size_of::<Run>());
        macro_rules! same {
            ($($field:ident)*) => { $(assert_eq!(
                fields.remove(stringify!($field)), Some(offset_of!(Run, $field)), stringify!($field)
            );)* };
        }
        same!(version kind operation flags driver key_len keys iv_len associated_len message_len);
        same!(tag_len output_len jobs depth batches iterations latencies warmup_ns batch_ns);
        same!(limit_ns counted_ns key ivs inputs expected outputs samples alone in_flight taken);
        same!(ran operations alone_max in_flight_max backlogged synchronous steps name words);
        assert!(fields.is_empty(), "{fields:?}");
    }
}
