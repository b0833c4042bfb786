//! The runner's side of the protocol: one frame in, one or more frames out.

use crate::round;
use crate::time::MonotonicRaw;
use cpb_core::check::check;
use cpb_core::frame::{self, Decoder, FrameError, MAX_FRAME};
use cpb_core::message::{Hello, Reply, Request};
use cpb_core::{Error, Provider, Unsupported};
use cpb_providers::Unavailable;
use std::io::{self, Read, Write};

/// A provider that a runner offers, or the reason why it is not available.
pub struct Offer {
    /// The provider's name as a user types it.
    pub name: String,
    /// The provider, or what is missing.
    pub provider: Result<Box<dyn Provider + Send + Sync>, Unavailable>,
}

/// Where a runner measures.
#[derive(Clone, Copy, Debug)]
pub struct Affinity<'a> {
    /// The CPUs of a round's threads, in this order; the caller runs on the first.
    pub cpus: &'a [usize],
    /// Cycles of a multiplication on these CPUs, if an earlier runner measured it.
    pub latency: Option<u32>,
}

/// Answers requests from `input` on `output` until the host sends Stop or disconnects.
///
/// # Errors
/// Returns an error if reading or writing fails.
pub fn serve(
    offers: &[Offer],
    Affinity { cpus, latency }: Affinity<'_>,
    mut input: impl Read,
    output: impl Write,
) -> io::Result<()> {
    let mut decoder = Box::new(Decoder::default());
    let mut runner = Runner {
        offers,
        cpus,
        clock: MonotonicRaw::new(latency),
        wire: Wire { output, frame: Box::new([0; MAX_FRAME]) },
        scratch: vec![0; 2 * frame::MAX_MESSAGE],
    };
    let mut bytes = [0; 4096];
    loop {
        let count = input.read(&mut bytes)?;
        if count == 0 {
            return Ok(());
        }
        for byte in &bytes[..count] {
            let Some(frame) = decoder.push(*byte) else { continue };
            match frame.and_then(frame::parse_request) {
                Ok(Request::Stop) => return Ok(()),
                Ok(request) => runner.answer(request)?,
                // Replying with this runner's version shows the host what is wrong.
                Err(FrameError::Version(_)) => runner.hello()?,
                // A complete frame with an unknown message: the host was built from another source.
                Err(FrameError::Message) => runner.wire.send(&Reply::Failed(Error::Contract))?,
                // Noise or a truncated request: the host will time out and ask again.
                Err(_) => {}
            }
        }
    }
}

struct Runner<'a, W: Write> {
    offers: &'a [Offer],
    cpus: &'a [usize],
    clock: MonotonicRaw,
    wire: Wire<W>,
    scratch: Vec<u8>,
}

impl<W: Write> Runner<'_, W> {
    fn hello(&mut self) -> io::Result<()> {
        self.wire.send(&Reply::Hello(Hello {
            runner: env!("CARGO_PKG_VERSION"),
            providers: self.offers.len().try_into().unwrap_or(u8::MAX),
            clock: self.clock.describe(),
            board: None,
        }))
    }

    fn answer(&mut self, request: Request<'_>) -> io::Result<()> {
        match request {
            Request::Hello => self.hello(),
            Request::Describe { provider } => {
                let Some(Offer { name, provider }) = self.offers.get(usize::from(provider)) else {
                    return self.wire.send(&Reply::Absent);
                };
                self.wire.send(&match provider {
                    Ok(provider) => Reply::Description {
                        identity: provider.identity(),
                        claim: provider.claim(),
                    },
                    Err(Unavailable { reason, detail }) => {
                        Reply::Unavailable { provider: name, reason: *reason, detail }
                    }
                })
            }
            Request::Check { provider, case } => {
                let reply = match offered(self.offers, provider) {
                    Ok(provider) => Reply::Finding(check(provider, &case, &mut self.scratch)),
                    Err(error) => Reply::Failed(error),
                };
                self.wire.send(&reply)
            }
            Request::Supports { provider, workload } => {
                let reply = match offered(self.offers, provider) {
                    Ok(provider) => Reply::Supports(cpb_round::supports(provider, &workload)),
                    Err(error) => Reply::Failed(error),
                };
                self.wire.send(&reply)
            }
            Request::Round { provider, workload, budget, threads } => {
                let result = offered(self.offers, provider).and_then(|provider| {
                    let cpus = self.cpus.get(..threads.max(1).into()).ok_or(Unsupported::Device)?;
                    round::run(provider, &workload, &budget, &self.clock, cpus)
                });
                match result {
                    Ok((threads, round)) => {
                        for (index, thread) in threads.iter().enumerate() {
                            for reply in thread.replies(index as u8) {
                                self.wire.send(&reply)?;
                            }
                        }
                        self.wire.send(&Reply::Round(round))
                    }
                    Err(error) => self.wire.send(&Reply::Failed(error)),
                }
            }
            Request::Stop => self.wire.send(&Reply::Failed(Error::Contract)),
        }
    }
}

fn offered(offers: &[Offer], index: u8) -> Result<&(dyn Provider + Sync), Error> {
    match offers.get(usize::from(index)).map(|offer| &offer.provider) {
        Some(Ok(provider)) => Ok(provider.as_ref()),
        Some(Err(unavailable)) => Err(unavailable.reason.into()),
        None => Err(Unsupported::Device.into()),
    }
}

/// The connection to the host.
struct Wire<W: Write> {
    output: W,
    frame: Box<[u8; MAX_FRAME]>,
}

impl<W: Write> Wire<W> {
    fn send(&mut self, reply: &Reply<'_>) -> io::Result<()> {
        let frame = frame::encode(reply, &mut self.frame).map_err(io::Error::other)?;
        self.output.write_all(frame)?;
        self.output.flush()
    }
}
