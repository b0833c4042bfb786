//! The text of a region: `START..END`, and what its context does differently.

use super::number;
use cpb_otfad::{Flags, Region};

/// Parses `START..END[,unlocked][,bypass]`.
///
/// # Errors
/// Returns a message if it is not one.
pub(super) fn parse(text: &str) -> Result<(Region, Flags), String> {
    let mut words = text.split(',');
    let range = words.next().unwrap_or_default();
    let parts = range
        .split_once("..")
        .and_then(|(start, end)| Some((u32::try_from(number(start)?).ok()?, number(end)?)));
    let (start, end) =
        parts.ok_or("not a region; write it as 0x30002000..0x30040000, the end not included")?;
    let region = Region::new(start, end).map_err(|error| error.to_string())?;
    let mut flags = Flags::ALL;
    for word in words {
        match word {
            "unlocked" => flags.locked = false,
            "bypass" => flags.decrypts = false,
            _ => return Err(format!("{word}: not a flag; there are: unlocked, bypass")),
        }
    }
    Ok((region, flags))
}

/// What a context does, in words.
pub(super) fn describe(flags: Flags) -> String {
    let words = [
        if flags.valid { "valid" } else { "not valid" },
        if flags.decrypts { "decrypts" } else { "bypass" },
        if flags.locked { "locked" } else { "unlocked" },
    ];
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_range() {
        let (region, flags) = parse("0x400..2048,bypass,unlocked").expect("a region");
        assert_eq!((region.start(), region.end()), (0x400, 0x800));
        assert_eq!(describe(flags), "valid, bypass, unlocked");
        let (_, flags) = parse("0x400..0x800").expect("a region");
        assert_eq!(describe(flags), "valid, decrypts, locked");
        for wrong in ["", "0x400", "0x400..", "0x400-0x800", "0x400..0x800,locked", "0..0x401"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
