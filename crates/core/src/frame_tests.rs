extern crate std;
use super::*;
use crate::check::{Answer, Case, Finding};
use crate::clock::{Reference, Ticks};
use crate::error::{Error, Meaning, Unsupported};
use crate::measure::Budget;
use crate::memory_read::tests::any_read;
use crate::message::{
    Board, ClockDescription, Counters, CpuTime, Hello, LATENCIES, Retired, Round, SAMPLES,
};
use crate::provider::{Claim, Identity};
use crate::sample::{Sample, Steps};
use crate::workload::tests::any_workload;
use crate::workload::{Phase, Placement, Workload};
use crate::{Algorithm, Operation};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::format;
use std::string::String;
use std::vec::Vec;

/// The parts of messages. Messages borrow, so this type owns the data.
#[derive(Clone, Debug)]
struct Parts {
    variant: usize,
    small: u8,
    numbers: [u64; 8],
    bytes: [Vec<u8>; 6],
    texts: [String; 4],
    samples: Vec<[u64; 6]>,
    buckets: Vec<(u16, u32)>,
    workload: Workload,
    algorithm: Algorithm,
    operation: Operation,
    phase: Phase,
    placement: Placement,
}

fn parts() -> impl Strategy<Value = Parts> {
    let owned = (
        std::array::from_fn(|_| vec(any::<u8>(), 0..600)),
        std::array::from_fn(|_| ".{0,40}"),
        vec(any::<[u64; 6]>(), 0..=SAMPLES),
        vec(any::<(u16, u32)>(), 0..=LATENCIES),
    );
    let named = (
        select(Algorithm::ALL),
        select(Operation::ALL),
        select(Phase::ALL),
        select(Placement::ALL),
    );
    let plain = (any::<Index>(), any::<u8>(), any::<[u64; 8]>());
    (owned, named, plain, workload()).prop_map(|(owned, named, plain, workload)| Parts {
        variant: plain.0.index(1_000),
        small: plain.1,
        numbers: plain.2,
        bytes: owned.0,
        texts: owned.1,
        samples: owned.2,
        buckets: owned.3,
        workload,
        algorithm: named.0,
        operation: named.1,
        phase: named.2,
        placement: named.3,
    })
}

fn workload() -> impl Strategy<Value = Workload> {
    prop_oneof![
        any_workload().prop_map(Workload::Crypto),
        any_read().prop_map(Workload::MemoryRead)
    ]
}

impl Parts {
    fn short(&self, index: usize) -> u32 {
        self.numbers[index] as u32
    }

    fn request(&self) -> Request<'_> {
        let provider = self.small;
        let [key, iv, associated, input, tag, output] = &self.bytes;
        let workload = self.workload;
        match self.variant % 6 {
            0 => Request::Hello,
            1 => Request::Describe { provider },
            2 => Request::Check {
                provider,
                case: Case {
                    algorithm: self.algorithm,
                    operation: self.operation,
                    key,
                    iv,
                    associated,
                    input,
                    tag,
                    answer: match self.short(0) % 3 {
                        0 => Answer::Output(output),
                        1 => Answer::Refusal,
                        _ => Answer::NoSuchLength,
                    },
                },
            },
            3 => Request::Supports { provider, workload },
            4 => Request::Round {
                provider,
                workload,
                budget: Budget {
                    warmup: Ticks(self.numbers[0]),
                    batch: Ticks(self.numbers[1]),
                    limit: Ticks(self.numbers[2]),
                    batches: self.short(3) as u16,
                    latencies: self.short(4) as u16,
                    iterations: self.short(5),
                    counted: Ticks(self.numbers[6]),
                },
                threads: self.short(6) as u8,
            },
            _ => Request::Stop,
        }
    }

    fn error(&self) -> Error {
        match self.short(0) % 8 {
            0 => Error::WrongAnswer,
            1 => Error::Refused,
            2 => Error::Timeout,
            3 => Error::Device(self.short(1) as i32),
            4 => Error::Contract,
            5 => Error::Crashed,
            6 => Error::Engine { code: self.short(1), meaning: Meaning::Descriptor },
            _ => Error::Unsupported(Unsupported::Policy),
        }
    }

    fn reply(&self) -> Reply<'_> {
        let [provider, version, executor, options] = &self.texts;
        match self.variant % 10 {
            0 => Reply::Hello(Hello {
                runner: version,
                providers: self.small,
                clock: ClockDescription {
                    frequency: self.numbers[0],
                    resolution: Ticks(self.numbers[1]),
                    cost: Ticks(self.numbers[2]),
                    reference_cycles: self.short(3),
                    multiply_latency: 3,
                    counts_cycles: self.small.is_multiple_of(2),
                },
                board: self.small.is_multiple_of(3).then_some(Board {
                    name: executor,
                    cpuid: self.short(4),
                    cycle_counter: self.small.is_multiple_of(5),
                }),
            }),
            1 => Reply::Description {
                identity: Identity { provider, version, executor, options },
                claim: match self.short(0) % 5 {
                    0 => Claim::Process,
                    1 => Claim::Kernel,
                    2 => Claim::Fallback,
                    3 => Claim::Engine,
                    _ => Claim::Unknown,
                },
            },
            2 => Reply::Absent,
            3 => {
                let provider = "interface:executor";
                Reply::Unavailable { provider, reason: Unsupported::Device, detail: options }
            }
            4 => Reply::Finding(match self.short(1) % 4 {
                0 => Finding::Right(self.small),
                2 => Finding::RoundTrip(self.small),
                1 => Finding::Unsupported(Unsupported::Memory),
                _ => Finding::Wrong {
                    phase: self.phase,
                    placement: self.placement,
                    error: self.error(),
                },
            }),
            5 => Reply::Supports(if self.small > 9 { Ok(()) } else { Err(Unsupported::Mode) }),
            6 => Reply::Samples {
                thread: self.small,
                samples: self.samples.iter().map(sample).collect(),
            },
            7 => Reply::Latencies {
                thread: self.small,
                in_flight: self.small.is_multiple_of(3),
                buckets: self.buckets.iter().copied().collect(),
                max: Ticks(self.numbers[0]),
            },
            8 => Reply::Round(Round {
                iterations: self.short(0),
                output: self.numbers[1],
                counters: Counters {
                    operations: self.numbers[5],
                    wall_ns: self.numbers[2],
                    cpu_ns: self.numbers[6],
                    user_ns: self.numbers[3],
                    system_ns: self.numbers[4],
                    voluntary: self.short(5),
                    involuntary: self.short(6),
                    faults: self.short(7),
                    cycles: (self.small > 9).then_some(self.numbers[0]),
                    instructions: (self.small > 19).then_some(self.numbers[1]),
                    interrupts: (self.small > 29).then_some(self.numbers[6]),
                    jobs: (self.small > 31).then_some(self.numbers[5]),
                    retired: (self.small > 33).then_some(Retired {
                        operations: self.numbers[1],
                        user: self.numbers[2],
                        kernel: (self.small > 35).then_some(self.numbers[3]),
                        cpu: (self.small > 37).then_some(self.numbers[4]),
                    }),
                    steps: (self.small > 36).then_some(Steps {
                        operations: self.numbers[0],
                        build: Ticks(self.numbers[1]),
                        dispatch: Ticks(self.numbers[2]),
                        completion: Ticks(self.numbers[3]),
                    }),
                    stack: (self.small > 27).then_some(self.short(5)),
                    machine: (self.small > 39).then_some(CpuTime {
                        busy_ns: self.numbers[3],
                        softirq_ns: self.numbers[4],
                        total_ns: self.numbers[7],
                    }),
                },
            }),
            _ => Reply::Failed(self.error()),
        }
    }

    /// A request or a reply, as a frame.
    fn frame(&self) -> Vec<u8> {
        if self.small.is_multiple_of(2) { framed(&self.request()) } else { framed(&self.reply()) }
    }
}

fn sample(numbers: &[u64; 6]) -> Sample {
    Sample {
        iterations: numbers[0] as u32,
        ticks: Ticks(numbers[1]),
        before: reading(numbers[2], numbers[3]),
        after: reading(numbers[4], numbers[5]),
    }
}

fn reading(chain: u64, burst: u64) -> Reference {
    Reference { chain: Ticks(chain), burst: Ticks(burst) }
}

fn framed<T: Serialize>(message: &T) -> Vec<u8> {
    let mut buffer = [0; MAX_FRAME];
    encode(message, &mut buffer).map_or_else(|_| Vec::new(), <[u8]>::to_vec)
}

/// A frame with arbitrary bytes in place of length, version and message, and a correct checksum.
fn framed_plain(plain: &[u8]) -> Vec<u8> {
    let checked = [plain, &CRC32.checksum(plain).to_le_bytes()].concat();
    let mut frame = std::vec![0; 2 + cobs_length(checked.len())];
    let stuffed = cobs::encode(&checked, &mut frame[1..]);
    frame.truncate(stuffed + 1);
    frame.push(0);
    frame
}

/// All results that a decoder returns for `bytes`.
fn decode(bytes: &[u8]) -> Vec<Result<Vec<u8>, FrameError>> {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    for &byte in bytes {
        seen.extend(decoder.push(byte).map(|frame| frame.map(<[u8]>::to_vec)));
    }
    seen
}

/// Bytes as received on a faulty line.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let cut = (parts(), any::<Index>(), any::<bool>()).prop_map(|(parts, at, tail)| {
        let frame = parts.frame();
        let (head, rest) = frame.split_at(at.index(frame.len()));
        if tail { rest.to_vec() } else { head.to_vec() }
    });
    let noisy = (parts(), vec((any::<Index>(), 0..8u8), 1..9)).prop_map(|(parts, flips)| {
        let mut frame = parts.frame();
        for (at, bit) in flips {
            let at = at.index(frame.len());
            frame[at] ^= 1 << bit;
        }
        frame
    });
    let holed = (parts(), vec(any::<Index>(), 1..9)).prop_map(|(parts, holes)| {
        let mut frame = parts.frame();
        for at in holes {
            frame.insert(at.index(frame.len()), 0);
        }
        frame
    });
    prop_oneof![vec(any::<u8>(), 0..600), cut, noisy, holed]
}

proptest! {
    #[test]
    fn a_request_comes_out_as_it_went_in(parts in parts()) {
        let frames = decode(&framed(&parts.request()));
        prop_assert_eq!(frames.len(), 1);
        prop_assert_eq!(frames[0].as_deref().map(parse_request), Ok(Ok(parts.request())));
    }

    #[test]
    fn a_reply_comes_out_as_it_went_in(parts in parts()) {
        let frames = decode(&framed(&parts.reply()));
        prop_assert_eq!(frames.len(), 1);
        prop_assert_eq!(frames[0].as_deref().map(parse_reply), Ok(Ok(parts.reply())));
    }

    #[test]
    fn zero_is_at_both_ends_of_a_frame_and_nowhere_else(parts in parts()) {
        let frame = parts.frame();
        let zeros: Vec<_> = (0..frame.len()).filter(|&at| frame[at] == 0).collect();
        prop_assert_eq!(zeros, [0, frame.len() - 1]);
        prop_assert!(frame.len() <= MAX_FRAME);
    }

    #[test]
    fn a_frame_is_decoded_whatever_came_before_it(
        before in vec(garbage(), 0..4), parts in parts(),
    ) {
        let frame = parts.frame();
        let alone = decode(&frame);
        prop_assert!(matches!(&alone[..], [Ok(_)]));
        let seen = decode(&[before.concat(), frame].concat());
        prop_assert_eq!(seen.last(), alone.last());
    }

    #[test]
    fn all_frames_between_garbage_are_decoded_in_their_order(
        stream in vec((garbage(), parts()), 1..5), after in garbage(),
    ) {
        let mut bytes = Vec::new();
        let mut sent = Vec::new();
        for (noise, parts) in &stream {
            let frame = parts.frame();
            sent.extend(decode(&frame));
            bytes.extend_from_slice(noise);
            bytes.extend_from_slice(&frame);
        }
        bytes.extend(after);
        // Noise can contain a valid frame with a bit flipped in front of it, so additional frames may be
        // decoded.
        let mut seen = decode(&bytes).into_iter();
        for frame in sent {
            prop_assert!(seen.any(|found| found == frame));
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed(parts in parts(), at in any::<Index>(), bit in 0..8u8) {
        let mut frame = parts.frame();
        let at = 1 + at.index(frame.len() - 2);
        frame[at] ^= 1 << bit;
        let seen = decode(&frame);
        prop_assert!(!seen.is_empty());
        prop_assert!(seen.iter().all(|found| *found == Err(FrameError::Garbled)));
    }

    #[test]
    fn another_version_is_named_whatever_its_message(
        version in any::<u16>(), message in vec(any::<u8>(), 0..600),
    ) {
        prop_assume!(version != VERSION);
        let length = (message.len() as u16).to_le_bytes();
        let plain = [&length[..], &version.to_le_bytes(), &message].concat();
        prop_assert_eq!(decode(&framed_plain(&plain)), [Err(FrameError::Version(version))]);
    }

    #[test]
    fn a_frame_with_a_wrong_length_is_garbled(
        length in any::<u16>(), message in vec(any::<u8>(), 0..600),
    ) {
        prop_assume!(usize::from(length) != message.len());
        let plain = [&length.to_le_bytes()[..], &VERSION.to_le_bytes(), &message].concat();
        prop_assert_eq!(decode(&framed_plain(&plain)), [Err(FrameError::Garbled)]);
    }

    #[test]
    fn a_flood_is_too_long_and_the_next_frame_is_decoded(
        length in MAX_FRAME + 1..4 * MAX_FRAME, byte in 1..=255u8, parts in parts(),
    ) {
        let frame = parts.frame();
        let mut expected = std::vec![Err(FrameError::TooLong)];
        expected.extend(decode(&frame));
        prop_assert_eq!(decode(&[std::vec![byte; length], frame].concat()), expected);
    }

    #[test]
    fn any_bytes_parse_to_a_message_or_an_error(bytes in vec(any::<u8>(), 0..600)) {
        let errors = [parse_request(&bytes).err(), parse_reply(&bytes).err()];
        prop_assert!(errors.iter().flatten().all(|error| *error == FrameError::Message));
    }

    #[test]
    fn a_message_must_be_used_up(parts in parts(), more in any::<u8>()) {
        for frame in decode(&parts.frame()).into_iter().flatten() {
            let longer = [&frame[..], &[more]].concat();
            if parts.small.is_multiple_of(2) {
                prop_assert_eq!(parse_request(&longer), Err(FrameError::Message));
                let shorter = &frame[..frame.len() - 1];
                prop_assert_eq!(parse_request(shorter), Err(FrameError::Message));
            } else {
                prop_assert_eq!(parse_reply(&longer), Err(FrameError::Message));
            }
        }
    }
}

#[test]
fn too_few_bytes_for_a_frame_are_garbled_even_with_a_right_checksum() {
    for length in 0..HEAD {
        let frame = framed_plain(&[1; HEAD][..length]);
        assert_eq!(decode(&frame), [Err(FrameError::Garbled)]);
    }
    assert_eq!(decode(&[0, 1, 0]), [Err(FrameError::Garbled)]);
    assert_eq!(decode(&[0, 0, 0, 0]), []);
}

#[test]
fn samples_take_at_most_16_bytes_each_on_the_wire() {
    let typical = Sample {
        iterations: 1_000,
        ticks: Ticks(200_000),
        before: reading(10_000, 5_000),
        after: reading(10_000, 5_000),
    };
    let frame = framed(&Reply::Samples {
        thread: 0,
        samples: core::iter::repeat_n(typical, SAMPLES).collect(),
    });
    let each = frame.len().div_ceil(SAMPLES);
    assert!(each <= 16, "{each} bytes a sample");
    // 115,200 baud is 11,520 bytes per second. 512 samples must take less than one second.
    assert!(512 * each < 11_520);
}

#[test]
fn the_largest_replies_and_a_known_answer_of_2_kib_fit_in_a_frame() {
    let extreme = Sample {
        iterations: u32::MAX,
        ticks: Ticks(u64::MAX),
        before: reading(u64::MAX, u64::MAX),
        after: reading(u64::MAX, u64::MAX),
    };
    let samples =
        Reply::Samples { thread: 255, samples: core::iter::repeat_n(extreme, SAMPLES).collect() };
    let latencies = Reply::Latencies {
        thread: 255,
        in_flight: true,
        buckets: core::iter::repeat_n((u16::MAX, u32::MAX), LATENCIES).collect(),
        max: Ticks(u64::MAX),
    };
    let bytes = [0xa5; 2048];
    let case = Request::Check {
        provider: 255,
        case: Case {
            algorithm: Algorithm::Aes256Gcm,
            operation: Operation::Encrypt,
            key: &bytes[..64],
            iv: &bytes[..16],
            associated: &bytes[..1024],
            input: &bytes,
            tag: &bytes[..16],
            answer: Answer::Output(&bytes),
        },
    };
    assert_eq!(decode(&framed(&samples)).len(), 1);
    assert_eq!(decode(&framed(&latencies)).len(), 1);
    assert_eq!(decode(&framed(&case)).len(), 1);
}

#[test]
fn a_message_fits_up_to_its_greatest_length_and_no_further() {
    let mut buffer = [0; MAX_FRAME];
    for byte in ['\0', '~'] {
        // The length of a text takes two bytes.
        let longest: String = core::iter::repeat_n(byte, MAX_MESSAGE - 2).collect();
        let frame = encode(&&longest[..], &mut buffer).map(<[u8]>::to_vec);
        let frames = decode(&frame.unwrap_or_default());
        let text = frames.first().map(|found| found.as_deref().map(parse));
        assert_eq!(text, Some(Ok(Ok(&longest[..]))));
        let longer = format!("{longest}~");
        assert_eq!(encode(&&longer[..], &mut buffer), Err(FrameError::TooLong));
    }
}
