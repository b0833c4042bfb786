//! A machine that is reached by a command of the user: a container, a phone, a board with its own tool.
//!
//! The shell runs the command of `exec:COMMAND` with `agent --stdio` appended. The command must start a cpb
//! there and pass on its standard input and output byte by byte: `exec:docker run -i --rm IMAGE /cpb`,
//! `exec:adb shell -T /data/local/tmp/cpb`.

use super::{Kind, Target};
use crate::remote::Remote;
use crate::target::with_agent::WithAgent;
use crate::transport::Timeouts;
use anyhow::bail;

/// `exec:COMMAND`.
pub(super) const KIND: Kind = Kind {
    form: "`exec:COMMAND`",
    about: "where your command starts a cpb: `exec:adb shell -T /data/local/tmp/cpb`",
    has_a_list: false,
    takes_runners: false,
    open: |request| {
        let Some(command) = request.name.strip_prefix("exec:") else { return Ok(None) };
        if command.trim().is_empty() {
            bail!(
                "`exec:` needs a command that starts a cpb, such as exec:docker run -i --rm IMAGE /cpb"
            );
        }
        (request.say)(&format!("exec: starting {command} agent --stdio"));
        let timeouts = request.timeouts(Timeouts::USUAL);
        let host = Remote::started_by(command)?;
        Ok(Some(Box::new(WithAgent { host, timeouts }) as Box<dyn Target>))
    },
};
