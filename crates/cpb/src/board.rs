//! A board as the machine that is measured: what it is, and which providers its firmware has.

use crate::probe;
use crate::sources::Known;
use crate::transport::{Description, Line, Patience, Runner, Source, Way};
use anyhow::{Result, anyhow, bail};
use cpb_core::catalog;
use cpb_record::Machine;
use cpb_record::names;

/// A board that has answered.
pub struct Board {
    /// The line to it.
    pub line: Line,
    /// What it is.
    pub machine: Machine,
}

impl Board {
    /// Asks who is at the end of `line`.
    ///
    /// # Errors
    /// There is no such line, or nobody that speaks cpb's frames, or no board.
    pub fn reach(line: Line, patience: &Patience) -> Result<Board> {
        let runner = line.start(patience).map_err(|lost| anyhow!("{}", lost.detail))?;
        let Some(board) = runner.board() else {
            bail!("{}: who answers there is no board: use `--runner` for a program", line.name());
        };
        let machine = match &line {
            Line::Serial(_) => probe::of_board(board),
            Line::Simulator(_) => probe::of_simulated_board(board),
        };
        Ok(Board { line, machine })
    }

    /// The providers called `wanted`, all if it names none, and the harness's floor.
    ///
    /// # Errors
    /// The board does not answer, or has none of that name.
    pub fn providers(&self, wanted: &[String], patience: &Patience) -> Result<Vec<Known>> {
        let gone = |lost: crate::transport::Lost| anyhow!("{}", lost.detail);
        let mut runner = self.line.start(patience).map_err(gone)?;
        let mut known = Vec::new();
        for provider in 0..=u8::MAX {
            let Some(description) = runner.describe(provider).map_err(gone)? else { break };
            let (Description::Available { provider: name, .. }
            | Description::Unavailable { provider: name, .. }) = &description;
            let (name, way) = (name.clone(), Way::Board(self.line.clone()));
            let source = Source { name, way, provider, found: false };
            known.push(Known { source, description: Ok(description) });
        }
        let wanted = names::whole(wanted);
        let wanted: Vec<String> = wanted.iter().map(|name| name.trim().to_owned()).collect();
        let names: Vec<&str> = known.iter().map(|known| known.source.name.as_str()).collect();
        names::places("provider", &wanted, &names)?;
        known.retain(|known| {
            let name = &known.source.name;
            wanted.is_empty() || wanted.contains(name) || name == catalog::NULL
        });
        Ok(known)
    }
}
