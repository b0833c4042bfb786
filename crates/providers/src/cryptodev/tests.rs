//! Tests the provider over a stand-in for the module, and once over the module itself.

mod answers;
mod identity;
mod life;
mod requests;

use super::stand_in::Module;
use super::*;
use cpb_core::material::{self, Part};
use cpb_core::{Data, DataSet, KeyUse, Operation, Placement, check::once};
use cpb_session::raw_jobs::RawJob;
use std::sync::Arc;

type Tested = Cryptodev<Arc<Module>>;

/// An empty message, one byte, lengths around a block, a page, and the longest message.
const LENGTHS: [u32; 8] = [0, 1, 15, 16, 17, 1000, 4096, LONGEST];

fn opened(module: &Arc<Module>, variant: &str) -> Tested {
    open(module.clone(), variant, Path::new("/nowhere"))
        .unwrap_or_else(|missing| panic!("{}", missing.detail))
}

fn software() -> crate::Boxed {
    (crate::mbedtls::C.open)("").unwrap_or_else(|missing| panic!("{}", missing.detail))
}

fn made(part: Part, index: usize, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    material::fill(part, index, &mut bytes);
    bytes
}

/// A job's memory, at an offset within its page that the test chooses.
struct Memory {
    bytes: Vec<u8>,
    start: usize,
}

impl Memory {
    fn new(content: &[u8], place: usize) -> Memory {
        let mut bytes = vec![0; content.len() + 2 * 4096];
        let start = bytes.as_ptr().align_offset(4096) + place;
        bytes[start..][..content.len()].copy_from_slice(content);
        Memory { bytes, start }
    }

    fn slice(&mut self, length: usize) -> &mut [u8] {
        &mut self.bytes[self.start..][..length]
    }
}

/// Returns the result of a workload's operation, with buffers at the offset `place` within their pages.
fn run_at(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    input: &[u8],
    tag: &[u8],
    place: usize,
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let shape = workload.algorithm.shape();
    let length = workload.algorithm.output_length(input.len());
    let (key, iv) = (made(Part::Key, 0, shape.key), made(Part::Iv, 0, shape.iv));
    let associated = made(Part::Associated, 0, workload.associated as usize);
    let mut source = Memory::new(input, place);
    let mut output = Memory::new(&vec![0xa5; length], place);
    let mut tag = tag.to_vec();
    tag.resize(shape.tag, 0);
    let in_place = workload.placement == Placement::InPlace;
    let data = if in_place {
        Data::InPlace(source.slice(length))
    } else {
        Data::Apart { input: source.slice(input.len()), output: output.slice(length) }
    };
    let mut jobs = [Job { key: 0, iv: &iv, associated: &associated, data, tag: &mut tag }];
    provider.session(workload, &[&key], &mut jobs, &mut |session| once(session, 0))?;
    let written = if in_place { source.slice(length) } else { output.slice(length) };
    Ok((written.to_vec(), tag))
}

fn run(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    input: &[u8],
    tag: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    run_at(provider, workload, input, tag, 0)
}

/// Every workload that `provider` supports, at some lengths.
fn supported(provider: &dyn Provider) -> Vec<CryptoWorkload> {
    let mut all = Vec::new();
    for &algorithm in Algorithm::ALL {
        for &operation in algorithm.operations() {
            for &phase in Phase::ALL {
                for &placement in Placement::ALL {
                    for message in LENGTHS {
                        let plain = CryptoWorkload::new(algorithm, operation, message);
                        let tagged = algorithm.shape().tag > 0 && phase != Phase::Setup;
                        let associated = if tagged { 13 } else { 0 };
                        all.push(CryptoWorkload { phase, placement, associated, ..plain });
                    }
                }
            }
        }
    }
    all.retain(|workload| provider.supports(workload).is_ok());
    all
}

/// Checks that nothing was left open, and that there was no misuse that the module would not have reported.
fn nothing_left(module: &Module) {
    let state = module.state();
    assert_eq!(state.left(), (0, 0), "(files, sessions) are left");
    assert!(state.misuse.is_empty(), "{:?}", state.misuse);
}
