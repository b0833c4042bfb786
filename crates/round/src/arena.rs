//! Memory for a workload's jobs, laid out the same way for every provider and every run, as long as it fits.

use crate::pages::{self, PAGE, Pages};
use alloc::vec;
use alloc::vec::Vec;
use cpb_core::Lengths;
use cpb_core::material::{self, Part};
use cpb_core::{CryptoWorkload, Data, DataSet, Depth, Job, KeyUse, Operation, Placement, Provider};

/// Byte strings of one length, one after the other: a small target has no memory for an allocation each.
struct Parts {
    bytes: Vec<u8>,
    length: usize,
    count: usize,
}

impl Parts {
    fn new(length: usize, count: usize) -> Parts {
        Parts { bytes: vec![0; length * count], length, count }
    }

    fn made(part: Part, length: usize, count: usize) -> Parts {
        let mut parts = Parts::new(length, count);
        parts.iter_mut().enumerate().for_each(|(index, bytes)| material::fill(part, index, bytes));
        parts
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|index| &self.bytes[index * self.length..][..self.length])
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let (mut rest, length) = (&mut self.bytes[..], self.length);
        (0..self.count).map(move |_| {
            let (first, others) = core::mem::take(&mut rest).split_at_mut(length);
            rest = others;
            first
        })
    }
}

/// Where buffers begin. Whatever the spacing, no two of them share a cache line.
#[derive(Clone, Copy)]
struct Spacing {
    /// Inputs begin at a multiple of this.
    unit: usize,
    /// Outputs begin at this offset from a multiple of the unit.
    output: usize,
}

/// Inputs begin on a page boundary, outputs in the middle of a page: equal low address bits of a load and an
/// earlier store (4 KiB aliasing) would stall some cores.
const PAGES: Spacing = Spacing { unit: PAGE, output: PAGE / 2 };

/// Buffers begin on the next cache line, for memory in which the jobs' pages have no room.
const LINES: Spacing = Spacing { unit: 64, output: 0 };

/// Keys, IVs, messages and outputs of one workload.
pub(crate) struct Arena<'m> {
    keys: Parts,
    ivs: Parts,
    associated: Vec<u8>,
    /// The memory that contains messages and outputs.
    memory: Pages<'m>,
    tags: Parts,
    layout: Layout,
}

#[derive(Clone, Copy)]
struct Layout {
    jobs: usize,
    input: usize,
    output: usize,
    in_place: bool,
    spacing: Spacing,
}

impl Layout {
    /// The layout of a workload for a provider, in pages. `None` if it has too many jobs.
    fn new(provider: &dyn Provider, workload: &CryptoWorkload) -> Option<Layout> {
        let Lengths { input, output, .. } = workload.lengths();
        let in_place = workload.placement == Placement::InPlace;
        let jobs = jobs(workload, provider.ring())?;
        Some(Layout { jobs, input, output, in_place, spacing: PAGES })
    }

    /// The distance from a job's input to the end of its last page or line.
    fn input_span(&self) -> usize {
        self.input.next_multiple_of(self.spacing.unit).max(self.spacing.unit)
    }

    /// The distance from one job's input to the next.
    fn stride(&self) -> usize {
        let Spacing { unit, output } = self.spacing;
        let output = if self.in_place { 0 } else { (output + self.output).next_multiple_of(unit) };
        self.input_span() + output
    }

    /// The memory of all jobs in bytes. `None` if it is more than can be addressed.
    fn size(&self) -> Option<usize> {
        self.stride().checked_mul(self.jobs)
    }
}

impl<'m> Arena<'m> {
    /// Memory for `workload` while it is timed, filled with its generated material. Messages and outputs are in
    /// `lent`, if the caller lends memory. `None` if it does not fit.
    pub(crate) fn timed(
        provider: &dyn Provider,
        workload: &CryptoWorkload,
        lent: Option<&'m mut [u8]>,
    ) -> Option<Self> {
        let mut layout = Layout::new(provider, workload)?;
        if lent.as_ref().is_some_and(|lent| !pages::fit(layout.size(), lent)) {
            layout.spacing = LINES;
        }
        Arena::new(layout, workload, lent)
    }

    /// The same in as little memory as possible, to prepare or check what is timed.
    pub(crate) fn untimed(provider: &dyn Provider, workload: &CryptoWorkload) -> Option<Self> {
        let layout = Layout { spacing: LINES, ..Layout::new(provider, workload)? };
        Arena::new(layout, workload, None)
    }

    fn new(layout: Layout, workload: &CryptoWorkload, lent: Option<&'m mut [u8]>) -> Option<Self> {
        let shape = workload.algorithm.shape();
        let jobs = layout.jobs;
        let Lengths { tag, associated, .. } = workload.lengths();
        let memory = Pages::zeroed(layout.size()?, lent)?;
        let mut associated = vec![0; associated];
        material::fill_associated(workload, &mut associated);
        let keys = if workload.keys == KeyUse::PerMessage { jobs } else { 1 };
        let mut arena = Arena {
            keys: if workload.algorithm.has_key_pairs() {
                let bytes = workload.algorithm.timed_key(workload.operation).to_vec();
                Parts { length: bytes.len(), bytes, count: 1 }
            } else {
                Parts::made(Part::Key, shape.key, keys)
            },
            ivs: Parts::made(Part::Iv, shape.iv, jobs),
            associated,
            memory,
            tags: Parts::new(tag, jobs),
            layout,
        };
        let peer = workload.algorithm.timed_public_key();
        for (index, (input, _)) in arena.buffers().enumerate() {
            match workload.operation {
                Operation::KeyAgreement => input.copy_from_slice(peer),
                _ => material::fill(Part::Message, index, input),
            }
        }
        Some(arena)
    }

    /// The number of jobs.
    pub(crate) fn jobs(&self) -> usize {
        self.layout.jobs
    }

    /// Bytes of one job's output.
    pub(crate) fn output_length(&self) -> usize {
        self.layout.output
    }

    /// Sets the inputs of all jobs from the concatenated `inputs`, and their tags from the concatenated `tags`.
    /// Clears the outputs.
    pub(crate) fn set_inputs(&mut self, inputs: &[u8], tags: &[u8]) {
        let length = self.layout.input;
        for (index, (input, output)) in self.buffers().enumerate() {
            input.copy_from_slice(&inputs[index * length..][..length]);
            if let Some(output) = output {
                output.fill(0);
            }
        }
        self.tags.bytes.copy_from_slice(tags);
    }

    /// Whether `outputs` are the messages of all jobs. Anything after the message in a record is ignored.
    pub(crate) fn are_messages(&mut self, outputs: &[u8], message: usize) -> bool {
        let outputs = outputs.chunks(self.layout.output.max(1)).map(|output| output.get(..message));
        let inputs = self.buffers().map(|(input, _)| input[..].get(..message));
        message == 0 || outputs.eq(inputs)
    }

    /// The concatenated inputs of all jobs. `None` if they do not fit.
    pub(crate) fn inputs(&mut self) -> Option<Vec<u8>> {
        let mut all = room(self.layout.input, self.layout.jobs)?;
        self.buffers().for_each(|(input, _)| all.extend_from_slice(input));
        Some(all)
    }

    /// Inputs of all jobs, and outputs if they have separate buffers.
    fn buffers(&mut self) -> impl Iterator<Item = (&mut [u8], Option<&mut [u8]>)> {
        buffers(self.layout, self.memory.bytes())
    }

    /// The keys and the jobs, for opening a session.
    pub(crate) fn parts(&mut self) -> (Vec<&[u8]>, Vec<Job<'_>>) {
        let one_key = self.keys.count == 1;
        let places = buffers(self.layout, self.memory.bytes());
        let rest = self.ivs.iter().zip(self.tags.iter_mut());
        let jobs = places.zip(rest).enumerate().map(|(index, ((input, output), (iv, tag)))| Job {
            key: if one_key { 0 } else { index },
            iv,
            associated: &self.associated,
            data: match output {
                Some(output) => Data::Apart { input, output },
                None => Data::InPlace(input),
            },
            tag,
        });
        (self.keys.iter().collect(), jobs.collect())
    }

    /// The concatenated outputs of all jobs. `None` if they do not fit.
    pub(crate) fn outputs(&mut self) -> Option<Vec<u8>> {
        let mut all = room(self.layout.output.max(self.layout.input), self.layout.jobs)?;
        self.buffers().for_each(|(input, output)| all.extend_from_slice(output.unwrap_or(input)));
        Some(all)
    }

    /// The concatenated tags of all jobs.
    pub(crate) fn tags(&self) -> &[u8] {
        &self.tags.bytes
    }
}

/// An empty vector with room for `count` times `length` bytes; `None` if there is not so much memory.
fn room(length: usize, count: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length.checked_mul(count)?).ok()?;
    Some(bytes)
}

fn buffers(
    layout: Layout,
    memory: &mut [u8],
) -> impl Iterator<Item = (&mut [u8], Option<&mut [u8]>)> {
    memory.chunks_mut(layout.stride()).take(layout.jobs).map(move |chunk| {
        if layout.in_place {
            return (&mut chunk[..layout.input], None);
        }
        let (input, rest) = chunk.split_at_mut(layout.input_span());
        let output = &mut rest[layout.spacing.output..][..layout.output];
        (&mut input[..layout.input], Some(output))
    })
}

/// The number of jobs: as many as the workload has chunks of data, or may have in flight. `None` if there are
/// too many.
fn jobs(workload: &CryptoWorkload, ring: usize) -> Option<usize> {
    let in_flight = match workload.dispatch.depth {
        Depth::Jobs(depth) => usize::from(depth.max(1)),
        Depth::Ring => ring,
    };
    let chunks = match workload.data {
        DataSet::Same => 1,
        DataSet::Unique { chunks } => chunks as usize,
    };
    let jobs = in_flight.max(chunks);
    (jobs <= 1 << 16).then_some(jobs)
}
