//! Reads of flash in one form, measured and published: what an engine costs that decrypts flash while it is read, and
//! how far measured rates are from a published table.

use crate::summary::summarise;
use crate::uncertain::Bounded;
use crate::units::{BytesPerSecond, Interval};
use cpb_core::memory_read::{Cache, Pattern, Region, Width, inline_engine};
use cpb_core::{MemoryReadWorkload, Workload, catalog};
use cpb_record::{Evidence, FlagKind, ProviderRecord, Published, Quantity, Record};
use serde::Serialize;

/// Up to this share of the time, a cost counts as none.
pub const NOTHING: f64 = 0.005;

/// A way of reading flash, and its rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlashRead {
    /// The machine or board.
    pub machine: String,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// The inline engine that decrypts what is read; `None` for plain flash.
    pub engine: Option<String>,
    /// What is read, and how.
    pub workload: MemoryReadWorkload,
    /// The rate, without the harness's own time if the record has it.
    #[serde(rename = "bytes_per_second")]
    pub rate: Bounded<BytesPerSecond>,
    /// Whether the record says that the figure may be read wrongly.
    pub doubtful: bool,
}

/// The reads of flash of a record, of one thread. Figures that the document does not have, or that cannot be read, are
/// left out.
pub fn of(record: &Record) -> Vec<FlashRead> {
    if record.published.is_empty() { measured(record) } else { published(record) }
}

fn measured(record: &Record) -> Vec<FlashRead> {
    let is_read = |workload: &Workload| {
        workload.memory_read().is_some_and(|read| read.region == Region::Flash)
    };
    if !record.cells.iter().any(|(cell, _)| is_read(&cell.workload)) {
        return Vec::new();
    }
    let summary = summarise(record);
    let floor = summary.floor.as_ref().map_or(0.0, |floor| floor.time.0);
    let header = &record.header;
    let machine = header.machine.label();
    let rows = summary.cells.iter().filter(|row| {
        is_read(&row.workload) && row.threads == 1 && catalog::computes(&row.provider)
    });
    rows.filter_map(|row| {
        let workload = *row.workload.memory_read()?;
        let ProviderRecord::Available { executor, .. } = header.providers.get(&row.provider)?
        else {
            return None;
        };
        let time = row.figures.measured()?.time;
        let rate = |ns: f64| BytesPerSecond(f64::from(workload.bytes) * 1e9 / (ns - floor));
        let interval = time.interval.map(|i| Interval { low: rate(i.high.0), high: rate(i.low.0) });
        Some(FlashRead {
            machine: machine.clone(),
            evidence: header.evidence,
            engine: inline_engine(executor).map(str::to_owned),
            workload,
            rate: Bounded { value: rate(time.value.0), interval },
            doubtful: false,
        })
    })
    .filter(|read| read.rate.value.0 > 0.0)
    .collect()
}

/// The reads of published tables, whose paths are named like `flexspi` and `flexspi:otfad`.
fn published(record: &Record) -> Vec<FlashRead> {
    let one = |cell: &Published| {
        let figure =
            cell.figures.iter().find(|figure| figure.quantity == Quantity::MegabytesPerSecond)?;
        let flag = figure.flag.as_ref().map(|flag| flag.kind);
        if !matches!(flag, None | Some(FlagKind::Doubtful)) {
            return None;
        }
        // A doubtful figure is kept with its mark.
        let printed: f64 = figure.printed.trim_end_matches(':').parse().ok()?;
        let engine = cell.provider.split_once(':').map(|(_, engine)| engine.to_uppercase());
        Some(FlashRead {
            machine: cell.machine.clone(),
            evidence: record.header.evidence,
            engine,
            workload: workload(cell)?,
            rate: Bounded { value: BytesPerSecond(printed * 1e6), interval: None },
            doubtful: flag.is_some(),
        })
    };
    record.published.iter().filter_map(one).collect()
}

/// The read that a published cell is of: its algorithm is `flash`, and its operation is such as `linear read, 8-bit,
/// D-cache disabled`. Its size is that of one buffer. `None` for anything else.
fn workload(cell: &Published) -> Option<MemoryReadWorkload> {
    if cell.algorithm != "flash" {
        return None;
    }
    let mut words = cell.operation.as_ref()?.split(", ");
    let pattern = match words.next()? {
        "linear read" => Pattern::Linear,
        "pingpong read" => Pattern::PingPong,
        _ => return None,
    };
    let width = match words.next()? {
        "burst 8" => Width::Widest,
        width => width.parse().ok()?,
    };
    let cache = match words.next()?.strip_prefix("D-cache ")? {
        "disabled" => Cache::Disabled,
        "invalidated" => Cache::Invalidated,
        "filled" => Cache::Filled,
        _ => return None,
    };
    let buffer = MemoryReadWorkload::new(width, pattern, cell.bytes?);
    let bytes = buffer.bytes.checked_mul(buffer.buffers() as u32)?;
    Some(MemoryReadWorkload { bytes, region: Region::Flash, cache, ..buffer })
}

/// What bounds a read of flash, as far as the way of reading tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The wires: bytes in order, by lines of the cache or by whole words.
    Stream,
    /// The passage of each load: bytes in order, less than a word at a time, past the cache.
    Passage,
    /// The command to the flash: two places in turn.
    Command,
    /// The data cache, which has the data already.
    Cache,
}

impl Bound {
    /// All, in the order of reports.
    pub const ALL: [Bound; 4] = [Bound::Stream, Bound::Passage, Bound::Command, Bound::Cache];

    /// What bounds this read.
    pub fn of(workload: &MemoryReadWorkload) -> Bound {
        let is_narrow = matches!(workload.width, Width::Bits8 | Width::Bits16);
        match (workload.cache, workload.pattern) {
            (Cache::Filled, _) => Bound::Cache,
            (_, Pattern::PingPong) => Bound::Command,
            (Cache::Disabled, Pattern::Linear) if is_narrow => Bound::Passage,
            (_, Pattern::Linear) => Bound::Stream,
        }
    }

    /// The name of such reads in tables.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Stream => "streams",
            Bound::Passage => "narrow loads",
            Bound::Command => "two places",
            Bound::Cache => "cache hits",
        }
    }

    /// Such reads, in words.
    pub fn words(self) -> &'static str {
        match self {
            Bound::Stream => "a stream of lines or words",
            Bound::Passage => "bytes and halfwords in order, past the cache",
            Bound::Command => "two places in turn",
            Bound::Cache => "hits in the data cache",
        }
    }
}

/// What decryption adds to the time of reads with the same bound, as shares of the time from plain flash.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Added {
    /// What bounds these reads.
    pub bound: Bound,
    /// The number of reads that were measured from both.
    pub pairs: usize,
    /// The least of them.
    pub least: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub most: f64,
    /// The ends of all their intervals; `None` if any has none.
    pub interval: Option<Interval<f64>>,
}

/// What the added time amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// At most [`NOTHING`] in either direction.
    Nothing,
    /// Each read takes longer.
    More,
    /// Each read takes less time.
    Less,
    /// Some take longer and some less, or their intervals have both signs.
    Both,
}

impl Added {
    /// What it amounts to, with the ends of the intervals if there are any.
    pub fn amount(&self) -> Amount {
        let Interval { low, high } =
            self.interval.unwrap_or(Interval { low: self.least, high: self.most });
        match () {
            () if low >= -NOTHING && high <= NOTHING => Amount::Nothing,
            () if low > 0.0 => Amount::More,
            () if high < 0.0 => Amount::Less,
            () => Amount::Both,
        }
    }
}

/// What an inline engine costs on one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InlineDecryption {
    /// The machine.
    pub machine: String,
    /// The kind of evidence.
    pub evidence: Evidence,
    /// The engine; `None` if there are only reads of plain flash.
    pub engine: Option<String>,
    /// The cost by what bounds the reads; empty if they were only measured from plain or only from encrypted flash.
    pub added: Vec<Added>,
}

/// Compares reads of plain and of encrypted flash that are otherwise the same. Of several figures of one read, the first
/// counts, and a doubtful one does not.
pub fn inline_decryption(reads: &[FlashRead]) -> Vec<InlineDecryption> {
    let mut found: Vec<InlineDecryption> = Vec::new();
    for read in reads {
        let of_it = |known: &&InlineDecryption| {
            known.machine == read.machine && known.evidence == read.evidence
        };
        if found.iter().any(|known| of_it(&known)) {
            continue;
        }
        let same =
            |other: &&FlashRead| other.machine == read.machine && other.evidence == read.evidence;
        let own: Vec<&FlashRead> = reads.iter().filter(same).collect();
        let engine = own.iter().find_map(|read| read.engine.clone());
        let added = Bound::ALL.iter().filter_map(|bound| added(*bound, &own));
        found.push(InlineDecryption {
            machine: read.machine.clone(),
            evidence: read.evidence,
            engine,
            added: added.collect(),
        });
    }
    found
}

fn added(bound: Bound, reads: &[&FlashRead]) -> Option<Added> {
    let with_bound =
        || reads.iter().filter(|read| Bound::of(&read.workload) == bound && !read.doubtful);
    let mut shares: Vec<(f64, Option<Interval<f64>>)> = Vec::new();
    let mut seen: Vec<MemoryReadWorkload> = Vec::new();
    for plain in with_bound().filter(|read| read.engine.is_none()) {
        let is_same =
            |other: &&&FlashRead| other.engine.is_some() && other.workload == plain.workload;
        let Some(decrypted) = with_bound().find(is_same) else { continue };
        if seen.contains(&plain.workload) {
            continue;
        }
        seen.push(plain.workload);
        let share = |plain: BytesPerSecond, decrypted: BytesPerSecond| plain.0 / decrypted.0 - 1.0;
        let interval = plain.rate.interval.zip(decrypted.rate.interval);
        let interval = interval.map(|(plain, decrypted)| Interval {
            low: share(plain.low, decrypted.high),
            high: share(plain.high, decrypted.low),
        });
        shares.push((share(plain.rate.value, decrypted.rate.value), interval));
    }
    shares.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (least, most) = (shares.first()?.0, shares.last()?.0);
    let values: Vec<f64> = shares.iter().map(|(share, _)| *share).collect();
    let intervals: Option<Vec<Interval<f64>>> =
        shares.iter().map(|(_, interval)| *interval).collect();
    let interval = intervals.map(|all| Interval {
        low: all.iter().map(|each| each.low).fold(f64::INFINITY, f64::min),
        high: all.iter().map(|each| each.high).fold(f64::NEG_INFINITY, f64::max),
    });
    let median = crate::location::median(&values)?;
    Some(Added { bound, pairs: shares.len(), least, median, most, interval })
}

/// A measured rate beside a published one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beside {
    /// The published figure.
    pub published: FlashRead,
    /// The measured one.
    pub measured: FlashRead,
    /// How far the measured rate is from the published one, as a share of it.
    pub error: f64,
}

/// Each published read beside the first measured one of the same board and engine.
pub fn beside_published(reads: &[FlashRead]) -> Vec<Beside> {
    let is_published = |read: &&FlashRead| read.evidence == Evidence::Published;
    let pair = |published: &FlashRead| {
        let measured = reads.iter().find(|read| {
            !is_published(read)
                && read.workload == published.workload
                && read.engine.is_some() == published.engine.is_some()
                && is_same_board(&read.machine, &published.machine)
        })?;
        let error = measured.rate.value.0 / published.rate.value.0 - 1.0;
        Some(Beside { published: published.clone(), measured: measured.clone(), error })
    };
    reads.iter().filter(is_published).filter_map(pair).collect()
}

/// Whether two names are of one board: a vendor may put letters before it, as in MIMXRT1170-EVK.
fn is_same_board(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(str::to_lowercase);
    !one.is_empty() && !other.is_empty() && (one.ends_with(&other) || other.ends_with(&one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(engine: Option<&str>, id: &str, rate: f64, margin: Option<f64>) -> FlashRead {
        let interval = margin.map(|margin| Interval {
            low: BytesPerSecond(rate * (1.0 - margin)),
            high: BytesPerSecond(rate * (1.0 + margin)),
        });
        FlashRead {
            machine: "imxrt1170-evk".into(),
            evidence: Evidence::Simulated,
            engine: engine.map(str::to_owned),
            workload: format!("memory-read/{id}").parse().unwrap(),
            rate: Bounded { value: BytesPerSecond(rate), interval },
            doubtful: false,
        }
    }

    const STREAM: &str = "32-bit/linear/4096/flash/cache-invalidated";
    const HITS: &str = "32-bit/linear/4096/flash";

    #[test]
    fn only_what_was_read_from_both_is_compared() {
        let reads = [
            read(None, STREAM, 48e6, Some(0.001)),
            read(Some("OTFAD"), STREAM, 47e6, Some(0.001)),
            read(None, HITS, 4e9, Some(0.001)),
            read(Some("OTFAD"), "8-bit/linear/4096/flash/cache-disabled", 19e6, None),
        ];
        let [found] = &inline_decryption(&reads)[..] else { panic!() };
        assert_eq!(found.engine.as_deref(), Some("OTFAD"));
        let [added] = &found.added[..] else { panic!("{found:?}") };
        assert_eq!((added.bound, added.pairs, added.amount()), (Bound::Stream, 1, Amount::More));
        assert!((added.median - 1.0 / 47.0).abs() < 1e-9, "{added:?}");
        assert!(inline_decryption(&reads[..1])[0].added.is_empty());
    }

    #[test]
    fn no_amount_is_surer_than_its_interval() {
        let amount = |decrypted: f64, margin: Option<f64>| {
            let reads =
                [read(None, STREAM, 48e6, margin), read(Some("OTFAD"), STREAM, decrypted, margin)];
            inline_decryption(&reads)[0].added[0].amount()
        };
        assert_eq!(amount(48e6, Some(0.001)), Amount::Nothing);
        assert_eq!(amount(48e6, Some(0.01)), Amount::Both);
        assert_eq!(amount(47.9e6, Some(0.0001)), Amount::Nothing);
        assert_eq!(amount(47e6, Some(0.02)), Amount::Both);
        assert_eq!(amount(50e6, Some(0.001)), Amount::Less);
        assert_eq!(amount(47e6, None), Amount::More);
    }

    #[test]
    fn a_published_read_is_understood_and_its_buffers_add_up() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/otfad-flexspi.jsonl");
        let record = cpb_record::store::read(file.as_ref()).expect("a record");
        let reads = of(&record);
        // 84 figures, of which two cannot be read.
        assert_eq!(reads.len(), 82);
        let turns = reads.iter().find(|read| read.workload.pattern == Pattern::PingPong).unwrap();
        assert_eq!(
            turns.workload.to_string(),
            "memory-read/8-bit/ping-pong/8192/flash/cache-disabled"
        );
        let [found] = &inline_decryption(&reads)[..] else { panic!() };
        let pairs: Vec<usize> = found.added.iter().map(|added| added.pairs).collect();
        assert_eq!(pairs, [12, 4, 12, 6]);
        assert_eq!(found.added[0].amount(), Amount::More);
        assert_eq!(found.added[1].amount(), Amount::Less);
        assert_eq!(found.added[3].amount(), Amount::Nothing);

        let mut mine = turns.clone();
        mine.evidence = Evidence::Simulated;
        mine.machine = "imxrt1170-evk".into();
        mine.rate.value.0 *= 1.1;
        let beside = beside_published(&[reads, vec![mine]].concat());
        let [beside] = &beside[..] else { panic!() };
        assert!((beside.error - 0.1).abs() < 1e-9);
    }
}
