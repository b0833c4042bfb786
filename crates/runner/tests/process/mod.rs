//! A runner as a process, driven with frames as a host does.

use cpb_core::catalog;
use cpb_core::frame::{self, Decoder, MAX_FRAME};
use cpb_core::message::{Reply, Request};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Runner {
    child: Child,
    requests: Option<ChildStdin>,
    replies: ChildStdout,
    decoder: Box<Decoder>,
}

impl Runner {
    /// Starts the runner of one provider.
    pub(crate) fn start(name: &str) -> Runner {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cpb-runner"));
        let known = catalog::find(name).expect("a provider");
        command.arg(name).envs(cpb_providers::environment(known.entry));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the runner starts");
        let requests = child.stdin.take();
        let replies = child.stdout.take().expect("a pipe");
        Runner { child, requests, replies, decoder: Box::default() }
    }

    /// Sends a request and reads replies until `wanted` accepts one.
    pub(crate) fn ask<T>(
        &mut self,
        request: &Request<'_>,
        mut wanted: impl FnMut(Reply<'_>) -> Option<T>,
    ) -> T {
        let mut buffer = Box::new([0; MAX_FRAME]);
        let frame = frame::encode(request, &mut buffer).expect("a request fits");
        let requests = self.requests.as_mut().expect("a pipe");
        requests.write_all(frame).expect("the runner listens");
        let mut bytes = [0; 4096];
        loop {
            let count = self.replies.read(&mut bytes).expect("the runner answers");
            assert!(count > 0, "the runner ended: {:?}", self.child.wait());
            let mut answer = None;
            for byte in &bytes[..count] {
                if let Some(Ok(message)) = self.decoder.push(*byte) {
                    let reply = frame::parse_reply(message).expect("a reply");
                    answer = answer.or_else(|| wanted(reply));
                }
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // The runner ends when its input ends.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
