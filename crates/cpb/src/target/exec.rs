//! A machine that a command of the user's leads to: a container, a phone, a board behind a tool of its own.
//!
//! `exec:COMMAND` is run by the shell with `agent --stdio` behind it, so it has to start a cpb there whose standard input
//! and output it passes on byte by byte: `exec:docker run -i --rm IMAGE /cpb`, `exec:adb shell -T /data/local/tmp/cpb`.

use super::{Kind, Target};
use crate::remote::Remote;
use crate::target::with_agent::WithAgent;
use crate::transport::Timeouts;
use anyhow::bail;

/// `exec:COMMAND`.
pub(super) const KIND: Kind = Kind {
    form: "`exec:COMMAND`",
    about: "where a command starts a cpb: `exec:adb shell -T /data/local/tmp/cpb`",
    has_a_list: false,
    takes_runners: false,
    open: |request| {
        let Some(command) = request.name.strip_prefix("exec:") else { return Ok(None) };
        if command.trim().is_empty() {
            bail!(
                "`exec:` wants a command behind it that starts a cpb, such as exec:docker run -i --rm IMAGE /cpb"
            );
        }
        (request.say)(&format!("exec: starting {command} agent --stdio"));
        let timeouts = request.timeouts(Timeouts::USUAL);
        let host = Remote::started_by(command)?;
        Ok(Some(Box::new(WithAgent { host, timeouts }) as Box<dyn Target>))
    },
};
