//! Many connections over one pair of streams, for a machine that is reached by a single ssh connection.
//!
//! A piece consists of the channel's number (4 bytes, most significant first), a length (2 bytes), and that
//! many bytes. The host opens a channel by sending an empty piece with the next number; any other empty piece
//! means that its sender has nothing more to send. Each end of a channel is a socket, so the code behind it
//! need not know about channels. While a round is timed nothing is sent, and both ends sleep.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The most bytes in a piece.
const PIECE: usize = 16 * 1024;

/// A channel whose reader does not read for this long is closed, because it would block all others.
const STUCK: Duration = Duration::from_secs(10);

/// One side of all channels.
#[derive(Clone)]
pub struct Channels {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
    ends: Arc<Mutex<Ends>>,
}

#[derive(Default)]
struct Ends {
    /// Data that arrives for a channel is written here.
    open: HashMap<u32, UnixStream>,
    /// The newest channel's number; no number is used twice.
    newest: u32,
    /// Whether the other side is gone.
    over: bool,
}

impl Channels {
    /// Creates a side that sends to `output`.
    pub fn new(output: impl Write + Send + 'static) -> Channels {
        Channels { output: Arc::new(Mutex::new(Box::new(output))), ends: Arc::default() }
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a channel to the other side.
    ///
    /// # Errors
    /// Returns an error if the other side is gone, or if there are no more sockets.
    pub fn open(&self) -> io::Result<UnixStream> {
        let mut ends = self.ends();
        if ends.over {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let number = ends.newest + 1;
        // Under the lock, because the other side expects the numbers in order.
        self.send(number, &[])?;
        self.add(&mut ends, number)
    }

    /// Distributes what arrives on `input` until it ends, and then ends all channels. `accept` receives the
    /// channels that the other side opens.
    ///
    /// # Errors
    /// Returns an error if reading fails.
    pub fn serve(
        &self,
        mut input: impl Read,
        mut accept: impl FnMut(UnixStream),
    ) -> io::Result<()> {
        let mut piece = vec![0; usize::from(u16::MAX)];
        let served = loop {
            let mut head = [0; 6];
            match input.read_exact(&mut head) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break Ok(()),
                Err(error) => break Err(error),
            }
            let [a, b, c, d, high, low] = head;
            let (number, length) = (u32::from_be_bytes([a, b, c, d]), [high, low]);
            let piece = &mut piece[..u16::from_be_bytes(length).into()];
            if let Err(error) = input.read_exact(piece) {
                break Err(error);
            }
            self.take(number, piece, &mut accept);
        };
        let mut ends = self.ends();
        ends.over = true;
        for (_, end) in ends.open.drain() {
            // It may have ended already.
            let _ = end.shutdown(Shutdown::Both);
        }
        served
    }

    /// Handles a piece. Data for a closed channel is dropped.
    fn take(&self, number: u32, piece: &[u8], accept: &mut impl FnMut(UnixStream)) {
        let mut ends = self.ends();
        if number > ends.newest {
            if let Ok(theirs) = self.add(&mut ends, number) {
                accept(theirs);
            }
            return;
        }
        let Some(end) = ends.open.get(&number) else { return };
        if piece.is_empty() {
            let _ = end.shutdown(Shutdown::Write);
            ends.open.remove(&number);
            return;
        }
        let Ok(mut end) = end.try_clone() else { return };
        // Without the lock, so that other channels can proceed while this one does not read.
        drop(ends);
        if end.write_all(piece).is_err() {
            let _ = end.shutdown(Shutdown::Both);
            self.ends().open.remove(&number);
        }
    }

    fn add(&self, ends: &mut Ends, number: u32) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(STUCK))?;
        let pieces = ours.try_clone()?;
        ends.newest = number;
        ends.open.insert(number, ours);
        let channels = self.clone();
        thread::spawn(move || channels.send_all(number, pieces));
        Ok(theirs)
    }

    /// Sends what is written to a channel until its writer hangs up.
    fn send_all(&self, number: u32, mut pieces: UnixStream) {
        let mut bytes = [0; PIECE];
        loop {
            let count = pieces.read(&mut bytes).unwrap_or(0);
            if self.send(number, &bytes[..count]).is_err() || count == 0 {
                return;
            }
        }
    }

    fn send(&self, number: u32, piece: &[u8]) -> io::Result<()> {
        let length = u16::try_from(piece.len()).map_err(io::Error::other)?;
        let whole = [&number.to_be_bytes()[..], &length.to_be_bytes(), piece].concat();
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(&whole)?;
        output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Two sides, and the channels that the second one is asked to accept.
    fn sides() -> (Channels, std::sync::mpsc::Receiver<UnixStream>, UnixStream) {
        let (host, far) = UnixStream::pair().unwrap();
        let here = Channels::new(host.try_clone().unwrap());
        let there = Channels::new(far.try_clone().unwrap());
        let (sender, accepted) = channel();
        thread::spawn(move || there.serve(far, |stream| sender.send(stream).unwrap()));
        let serving = here.clone();
        let wire = host.try_clone().unwrap();
        thread::spawn(move || {
            serving.serve(host, |_| unreachable!("only the host opens channels"))
        });
        (here, accepted, wire)
    }

    #[test]
    fn channels_do_not_mix_and_each_ends_by_itself() {
        let (here, accepted, _wire) = sides();
        let mut first = here.open().unwrap();
        let mut second = here.open().unwrap();
        let (mut far_first, mut far_second) = (accepted.recv().unwrap(), accepted.recv().unwrap());
        second.write_all(b"two").unwrap();
        second.shutdown(Shutdown::Write).unwrap();
        first.write_all(&vec![1; 3 * PIECE]).unwrap();
        let mut text = String::new();
        far_second.read_to_string(&mut text).unwrap();
        assert_eq!(text, "two");
        far_second.write_all(b"answer").unwrap();
        drop(far_second);
        let mut text = String::new();
        second.read_to_string(&mut text).unwrap();
        assert_eq!(text, "answer");
        // The first channel is unaffected.
        let mut bytes = vec![0; 3 * PIECE];
        far_first.read_exact(&mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 1));
        far_first.write_all(b"still here").unwrap();
        let mut bytes = [0; 10];
        first.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"still here");
    }

    #[test]
    fn channels_that_are_opened_at_once_all_arrive() {
        let (here, accepted, _wire) = sides();
        thread::scope(|scope| {
            for number in 0..64_u8 {
                let here = &here;
                scope.spawn(move || here.open().unwrap().write_all(&[number]).unwrap());
            }
        });
        let mut came: Vec<u8> = (0..64)
            .map(|_| {
                let mut byte = [0];
                accepted.recv().unwrap().read_exact(&mut byte).unwrap();
                byte[0]
            })
            .collect();
        came.sort_unstable();
        assert_eq!(came, (0..64).collect::<Vec<u8>>());
    }

    #[test]
    fn a_lost_connection_ends_every_channel_and_opens_none() {
        let (here, accepted, wire) = sides();
        let mut stream = here.open().unwrap();
        stream.write_all(b"x").unwrap();
        let mut far = accepted.recv().unwrap();
        // Data in transit is lost as well.
        far.read_exact(&mut [0]).unwrap();
        wire.shutdown(Shutdown::Both).unwrap();
        let mut bytes = Vec::new();
        assert_eq!(stream.read_to_end(&mut bytes).unwrap(), 0);
        assert_eq!(far.read_to_end(&mut bytes).unwrap(), 0);
        assert!(here.open().is_err());
    }

    #[test]
    fn what_comes_for_a_closed_channel_opens_none() {
        let (far, mut near) = UnixStream::pair().unwrap();
        let there = Channels::new(io::sink());
        for piece in [&[0, 0][..], &[0, 1, 7], &[0, 0], &[0, 1, 7]] {
            near.write_all(&[&[0, 0, 0, 1], piece].concat()).unwrap();
        }
        drop(near);
        let mut opened = Vec::new();
        there.serve(far, |stream| opened.push(stream)).unwrap();
        assert_eq!(opened.len(), 1);
        let mut bytes = Vec::new();
        opened[0].read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [7]);
    }
}
