//! Writes the seeds that cannot be typed by hand: `cargo run -p cpb-fuzz-targets --example seeds`.

use cpb_core::check::{Answer, Case};
use cpb_core::frame::{MAX_FRAME, encode};
use cpb_core::measure::Budget;
use cpb_core::memory_read::{Pattern, Width};
use cpb_core::message::{Counters, CpuTime, Reply, Request, Round};
use cpb_core::{
    Algorithm, Claim, CryptoWorkload, Dispatch, Error, Identity, MemoryReadWorkload, Operation,
    Reference, Sample, Ticks, Workload,
};
use cpb_otfad::{Context, Counter, Flags, Kek, Key, KeyBlobs, PARTS, Region, Scramble, boot};
use serde::Serialize;
use std::{fs, io};

fn main() -> io::Result<()> {
    let case = Case {
        algorithm: Algorithm::Aes128Gcm,
        operation: Operation::Decrypt,
        key: &[1; 16],
        iv: &[2; 12],
        associated: &[3; 5],
        input: &[0; 17],
        tag: &[5; 16],
        answer: Answer::Output(&[0xff; 17]),
    };
    let workload = Workload::Crypto(CryptoWorkload {
        dispatch: Dispatch::ALL_AT_ONCE,
        ..CryptoWorkload::new(Algorithm::Aes256Cbc, Operation::Encrypt, 16384)
    });
    let budget = Budget {
        warmup: Ticks(1_000_000),
        batch: Ticks(200_000),
        limit: Ticks(100_000_000),
        batches: 64,
        latencies: 100,
        iterations: 0,
        counted: Ticks(20_000_000),
    };
    let sample = Sample {
        iterations: 1_000,
        ticks: Ticks(200_000),
        before: Reference { chain: Ticks(10_000), burst: Ticks(5_000) },
        after: Reference { chain: Ticks(10_001), burst: Ticks(5_000) },
    };
    write("hello", &Request::Hello)?;
    write("check", &Request::Check { provider: 1, case })?;
    write("round", &Request::Round { provider: 2, workload, budget, threads: 4 })?;
    let read = MemoryReadWorkload::new(Width::Widest, Pattern::PingPong, 65536);
    let workload = Workload::MemoryRead(read);
    write("memory_read", &Request::Round { provider: 2, workload, budget, threads: 1 })?;
    write("samples", &Reply::Samples { thread: 0, samples: [sample; 3].into_iter().collect() })?;
    let identity = Identity { provider: "a", version: "1", executor: "an engine", options: "" };
    write("description", &Reply::Description { identity, claim: Claim::Engine })?;
    let counters = Counters {
        operations: 5_000,
        voluntary: 5_000,
        interrupts: Some(4_999),
        machine: Some(CpuTime { busy_ns: 10_000_000, softirq_ns: 0, total_ns: 40_000_000 }),
        ..Counters::default()
    };
    write("counted", &Reply::Round(Round { iterations: 1_000, output: 0xfeed, counters }))?;
    write("failed", &Reply::Failed(Error::Device(-110)))?;
    write_encrypted_images()
}

/// An encrypted image with its key, and a context that is not wrapped.
fn write_encrypted_images() -> io::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/otfad");
    fs::create_dir_all(folder)?;
    let flash = 0x3000_0000_u32;
    let scramble = Some(Scramble { mask: 0x0807_0605, align: 0x72 });
    let kek = Kek { key: Key::new([9; 16]), scramble, part: &PARTS[1] };
    let mut head = vec![0x81];
    head.extend([9; 16]);
    head.extend([5, 6, 7, 8, 0x72]);
    head.extend(flash.to_le_bytes());
    let region =
        Region::new(flash + 0x2000, u64::from(flash) + 0x4000).map_err(io::Error::other)?;
    let context =
        Context { region, key: Key::new([1; 16]), counter: Counter([2; 8]), flags: Flags::ALL };
    let plain = [head.as_slice(), &*Context::plain(Some(&context))].concat();
    fs::write(format!("{folder}/context"), plain)?;
    let mut image = vec![0; 0x2040];
    let boot = boot::Boot { entry: flash + 0x2000, start: flash, length: 0x2040 };
    let mut configuration = [0; 512];
    configuration[..4].copy_from_slice(b"FCFB");
    boot::write(&boot, &configuration, &mut image).map_err(io::Error::other)?;
    let blobs = KeyBlobs::new([context]).map_err(io::Error::other)?;
    blobs.apply(flash, &mut image);
    image[boot::KEY_BLOBS].copy_from_slice(&blobs.seal(&kek));
    fs::write(format!("{folder}/image"), [head, image].concat())
}

/// Writes `message` as a frame for the decoder, and unframed for the round trip.
fn write<T: Serialize>(name: &str, message: &T) -> io::Result<()> {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
    let mut buffer = [0; MAX_FRAME];
    let frame = encode(message, &mut buffer).map_err(io::Error::other)?;
    fs::create_dir_all(format!("{corpus}/frame_decoder"))?;
    fs::create_dir_all(format!("{corpus}/frame_roundtrip"))?;
    fs::write(format!("{corpus}/frame_decoder/{name}"), frame)?;
    let mut decoder = cpb_core::frame::Decoder::default();
    for &byte in frame {
        if let Some(Ok(plain)) = decoder.push(byte) {
            fs::write(format!("{corpus}/frame_roundtrip/{name}"), plain)?;
        }
    }
    Ok(())
}
