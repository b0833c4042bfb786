//! The answers of a round: what they must be, and whether they are still right.

use crate::arena::Arena;
use alloc::vec::Vec;
use cpb_core::check::{DISTINCT_FROM, once};
use cpb_core::frame::output_checksum;
use cpb_core::{CryptoWorkload, Error, Operation, Phase, Placement, Provider, Unsupported};

/// The number of updates of a stream that are checked, before and after it is timed.
const STREAM_UPDATES: usize = 3;

/// Prepares the workload's memory. For Decrypt it contains what this provider encrypted, for Verify what it
/// signed, and for Decapsulate what it encapsulated.
pub(crate) fn prepare<'m>(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    memory: Option<&'m mut [u8]>,
) -> Result<Arena<'m>, Error> {
    let mut arena = Arena::timed(provider, workload, memory).ok_or(Unsupported::Memory)?;
    let counterpart = match workload.operation {
        Operation::Decrypt => Operation::Encrypt,
        Operation::Verify => Operation::Sign,
        Operation::Decapsulate => Operation::Encapsulate,
        _ => return Ok(arena),
    };
    if workload.phase == Phase::Setup {
        return Ok(arena);
    }
    let before = CryptoWorkload {
        operation: counterpart,
        phase: Phase::Message,
        placement: Placement::Apart,
        ..*workload
    };
    let mut source = Arena::untimed(provider, &before).ok_or(Unsupported::Memory)?;
    run_once(provider, &before, &mut source)?;
    let inputs = if counterpart == Operation::Encrypt { source.outputs() } else { source.inputs() };
    let inputs = inputs.ok_or(Unsupported::Memory)?;
    arena.set_inputs(&inputs, source.tags());
    Ok(arena)
}

/// The results of the jobs.
#[derive(PartialEq)]
pub(crate) struct Answers {
    pub(crate) outputs: Vec<u8>,
    tags: Vec<u8>,
    /// The number of jobs.
    jobs: usize,
}

impl Answers {
    fn of(arena: &mut Arena<'_>) -> Result<Answers, Unsupported> {
        let outputs = arena.outputs().ok_or(Unsupported::Memory)?;
        Ok(Answers { outputs, tags: arena.tags().to_vec(), jobs: arena.jobs() })
    }

    pub(crate) fn checksum(&self) -> u64 {
        output_checksum([&self.outputs[..], &self.tags].into_iter())
    }

    /// Keeps only the first `jobs` of them.
    fn truncate(&mut self, jobs: usize) {
        for bytes in [&mut self.outputs, &mut self.tags] {
            bytes.truncate(bytes.len() / self.jobs.max(1) * jobs);
        }
        self.jobs = self.jobs.min(jobs);
    }
}

/// This provider's answers to all jobs, untimed. Afterwards the arena is as before, with the outputs cleared.
/// A decryption must return the original message.
pub(crate) fn first(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    arena: &mut Arena<'_>,
    computes: bool,
) -> Result<Answers, Error> {
    if workload.phase == Phase::Setup {
        return Ok(Answers { outputs: Vec::new(), tags: Vec::new(), jobs: 0 });
    }
    let inputs = arena.inputs().ok_or(Unsupported::Memory)?;
    let tags = arena.tags().to_vec();
    run_once(provider, workload, arena)?;
    let answers = Answers::of(arena)?;
    let whole_messages = workload.phase != Phase::Update;
    if workload.operation == Operation::Decrypt && whole_messages && computes {
        let mut plain = Arena::untimed(provider, workload).ok_or(Unsupported::Memory)?;
        if !plain.are_messages(&answers.outputs, workload.message as usize) {
            return Err(Error::WrongAnswer);
        }
    }
    arena.set_inputs(&inputs, &tags);
    Ok(answers)
}

/// Checks that the answers are still right after the timed batches.
///
/// For whole messages with separate buffers, the outputs are simply compared: they were written by the timed
/// operations. A stream, a generator, and a message that was overwritten in place have advanced, so for them
/// the first answers are requested again.
pub(crate) fn check_after(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    mut arena: Arena<'_>,
    mut right: Answers,
    run: u64,
    computes: bool,
) -> Result<(), Error> {
    if workload.operation == Operation::Random && workload.phase != Phase::Setup {
        return if computes { check_random(provider, workload, arena, right, run) } else { Ok(()) };
    }
    if workload.algorithm.draws(workload.operation) {
        return if computes { check_drawn(provider, workload, arena, &right) } else { Ok(()) };
    }
    let last = if workload.phase == Phase::Update || workload.placement == Placement::InPlace {
        let mut again = prepare(provider, workload, None)?;
        first(provider, workload, &mut again, computes)?
    } else if workload.phase == Phase::Setup || !computes {
        return Ok(());
    } else {
        let reached = usize::try_from(run).unwrap_or(usize::MAX).min(arena.jobs());
        right.truncate(reached);
        let mut answers = Answers::of(&mut arena)?;
        answers.truncate(reached);
        answers
    };
    if last == right { Ok(()) } else { Err(Error::WrongAnswer) }
}

/// Checks that the last random output differs from the first, and that its counterpart accepts it: a
/// signature is verified. (The known-answer check has already verified that a secret matches the other half,
/// and that a pair is right.)
fn check_drawn(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    mut arena: Arena<'_>,
    first: &Answers,
) -> Result<(), Error> {
    let last = Answers::of(&mut arena)?;
    if last == *first {
        return Err(Error::WrongAnswer);
    }
    if workload.operation != Operation::Sign {
        return Ok(());
    }
    let verify = CryptoWorkload { operation: Operation::Verify, ..*workload };
    let mut taken = Arena::untimed(provider, &verify).ok_or(Unsupported::Memory)?;
    let inputs = arena.inputs().ok_or(Unsupported::Memory)?;
    taken.set_inputs(&inputs, &last.tags);
    run_once(provider, &verify, &mut taken)
}

/// Checks that a generator wrote its last outputs completely, and that the output of the first job is not the
/// one it wrote first. A generator that repeats must give the first answers again when it is seeded as at
/// first.
fn check_random(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    mut arena: Arena<'_>,
    right: Answers,
    run: u64,
) -> Result<(), Error> {
    /// A piece of this size is all zero, as the memory was, with a probability of 1 in 2^128.
    const PIECE: usize = 16;
    let (jobs, message) = (arena.jobs(), arena.output_length());
    let reached = usize::try_from(run).unwrap_or(usize::MAX).min(jobs);
    let last = Answers::of(&mut arena)?.outputs;
    let mut pieces =
        last.chunks_exact(message).take(reached).flat_map(|one| one.chunks_exact(PIECE));
    if pieces.any(|piece| piece.iter().all(|byte| *byte == 0)) {
        return Err(Error::WrongAnswer);
    }
    // With a new seed for each request, a generator that repeats gives the same answer each time.
    let repeats = provider.repeats(workload);
    let goes_on = !repeats || (workload.phase == Phase::Message && run > jobs as u64);
    if goes_on && message >= DISTINCT_FROM && last.get(..message) == right.outputs.get(..message) {
        return Err(Error::WrongAnswer);
    }
    if !repeats {
        return Ok(());
    }
    let mut again = prepare(provider, workload, None)?;
    let same = first(provider, workload, &mut again, true)? == right;
    if same { Ok(()) } else { Err(Error::WrongAnswer) }
}

/// Runs every job once, or the first few updates of a stream, untimed and in a separate session.
fn run_once(
    provider: &dyn Provider,
    workload: &CryptoWorkload,
    arena: &mut Arena<'_>,
) -> Result<(), Error> {
    let times = if workload.phase == Phase::Update { STREAM_UPDATES } else { 1 };
    let (keys, mut jobs) = arena.parts();
    let count = jobs.len();
    provider.session(workload, &keys, &mut jobs, &mut |session| {
        (0..count).try_for_each(|job| (0..times).try_for_each(|_| once(session, job)))
    })
}
