//! Places the names of lines beside their ends, without overlaps.

/// Finds a place for each label on a scale from `range.0` down to `range.1`: as near as possible to its
/// wanted place, and at least `gap` from the others. The first `fixed` labels always get a place as long as
/// there is room; the others get one if these leave enough room, and otherwise `None`.
pub(super) fn places(
    wanted: &[i32],
    fixed: usize,
    gap: i32,
    range: (i32, i32),
) -> Vec<Option<i32>> {
    let mut placed: Vec<Option<i32>> = spread(&wanted[..fixed], gap, range);
    placed.resize(wanted.len(), None);
    for place in fixed..wanted.len() {
        let wants = wanted[place].clamp(range.0, range.1);
        let free = |at: &i32| placed.iter().flatten().all(|other| (other - at).abs() >= gap);
        let steps = (0..=range.1 - range.0).flat_map(|step| [wants - step, wants + step]);
        let found = steps.filter(|at| (range.0..=range.1).contains(at)).find(free);
        placed[place] = found;
    }
    placed
}

/// Pushes labels apart: labels that would touch form a block around the mean of their wanted places.
fn spread(wanted: &[i32], gap: i32, (top, bottom): (i32, i32)) -> Vec<Option<i32>> {
    let room = ((bottom - top) / gap + 1).max(0) as usize;
    let mut order: Vec<usize> = (0..wanted.len().min(room)).collect();
    order.sort_by_key(|place| wanted[*place]);
    // Blocks of labels, each with the sum of the wanted places of its first label.
    let mut blocks: Vec<(Vec<usize>, i32)> = Vec::new();
    let start = |(labels, sum): &(Vec<usize>, i32)| {
        let count = labels.len() as i32;
        (sum / count).clamp(top, (bottom - (count - 1) * gap).max(top))
    };
    for place in order {
        let mut block = (vec![place], wanted[place]);
        while let Some(last) = blocks.last() {
            if start(last) + last.0.len() as i32 * gap <= start(&block) {
                break;
            }
            let shift = last.0.len() as i32 * gap;
            let (mut labels, sum) = blocks.pop().unwrap_or_default();
            let moved = block.1 - shift * block.0.len() as i32;
            labels.append(&mut block.0);
            block = (labels, sum + moved);
        }
        blocks.push(block);
    }
    let mut placed = vec![None; wanted.len()];
    for block in &blocks {
        for (number, place) in block.0.iter().enumerate() {
            placed[*place] = Some(start(block) + number as i32 * gap);
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (i32, i32) = (0, 600);

    fn apart(placed: &[Option<i32>], gap: i32) -> bool {
        let mut all: Vec<i32> = placed.iter().flatten().copied().collect();
        all.sort_unstable();
        all.windows(2).all(|pair| pair[1] - pair[0] >= gap)
            && all.iter().all(|at| (RANGE.0..=RANGE.1).contains(at))
    }

    #[test]
    fn labels_with_room_stand_where_they_want_to() {
        let wanted = [500, 20, 300];
        assert_eq!(places(&wanted, 3, 25, RANGE), wanted.map(Some));
    }

    #[test]
    fn labels_that_would_touch_stand_around_their_middle() {
        assert_eq!(places(&[300, 300], 2, 20, RANGE), [Some(290), Some(310)]);
        assert_eq!(places(&[310, 300, 100], 3, 20, RANGE), [Some(315), Some(295), Some(100)]);
        // At an end, all labels move inwards.
        assert_eq!(places(&[-5, -5], 2, 20, RANGE), [Some(0), Some(20)]);
        assert_eq!(places(&[900, 600], 2, 20, RANGE), [Some(600), Some(580)]);
    }

    #[test]
    fn no_label_covers_another_wherever_they_want_to_be() {
        let mut random = fastrand::Rng::with_seed(1);
        for count in 1..40 {
            let wanted: Vec<i32> = (0..count).map(|_| random.i32(-50..650)).collect();
            let fixed = wanted.len().min(8);
            let placed = places(&wanted, fixed, 25, RANGE);
            assert!(apart(&placed, 25), "{wanted:?} {placed:?}");
            assert!(placed[..fixed].iter().all(Option::is_some), "{placed:?}");
        }
        let crowd = places(&[300; 60], 60, 25, RANGE);
        assert!(apart(&crowd, 25) && crowd.iter().flatten().count() == 25, "{crowd:?}");
    }
}
