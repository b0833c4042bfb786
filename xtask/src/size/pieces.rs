//! Ranges of a section, and their owners.

/// A range of a section, and its owner.
pub(crate) struct Piece<'a> {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    pub(crate) owner: &'a str,
}

/// The number of bytes that each owner keeps if later pieces cover earlier ones.
pub(crate) fn painted<'a>(pieces: &[Piece<'a>], bytes: u64) -> Vec<(&'a str, u64)> {
    let length = usize::try_from(bytes).unwrap_or_default();
    let mut owner_of = vec![0_u32; length];
    for (number, piece) in (1..).zip(pieces) {
        let start = usize::try_from(piece.start).unwrap_or(length).min(length);
        let end = start.saturating_add(usize::try_from(piece.bytes).unwrap_or(length)).min(length);
        owner_of[start..end].fill(number);
    }
    let mut counts = vec![0; pieces.len() + 1];
    owner_of.iter().for_each(|number| counts[*number as usize] += 1);
    pieces.iter().map(|piece| piece.owner).zip(counts.into_iter().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_pieces_cover_earlier_ones_and_each_byte_counts_once() {
        let piece = |start, bytes, owner| Piece { start, bytes, owner };
        let pieces = [piece(0, 8, "a"), piece(2, 4, "b"), piece(2, 4, "b"), piece(6, 9, "c")];
        let painted = painted(&pieces, 10);
        assert_eq!(painted, [("a", 2), ("b", 0), ("b", 4), ("c", 4)]);
    }
}
