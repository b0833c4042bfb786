//! Selects the paths that a plot draws initially, because more than [`SHOWN`] lines cannot be distinguished.

use cpb_analysis::units::Nanoseconds;

/// The most paths that are drawn initially; readers can switch on the others.
pub(super) const SHOWN: usize = 8;

/// The names of the most relevant paths: first paths that are the fastest at some size, then paths that come
/// nearest to the fastest at some size. `costs` are each path's (message length, time).
pub(super) fn first<'a>(costs: &[(&'a str, Vec<(u32, Nanoseconds)>)]) -> Vec<&'a str> {
    let least = |bytes: u32| {
        let all = costs.iter().flat_map(|(_, sizes)| sizes).filter(|(size, _)| *size == bytes);
        Nanoseconds(all.map(|(_, time)| time.0).fold(f64::INFINITY, f64::min))
    };
    let mut ranks: Vec<(&str, usize, f64)> = costs
        .iter()
        .filter(|(_, sizes)| !sizes.is_empty())
        .map(|(name, sizes)| {
            let ratios = || sizes.iter().map(|(bytes, time)| *time / least(*bytes));
            let wins = ratios().filter(|ratio| *ratio <= 1.0).count();
            (*name, wins, ratios().fold(f64::INFINITY, f64::min))
        })
        .collect();
    // A stable sort keeps the order of the list of providers among equals.
    ranks.sort_by(|one, other| other.1.cmp(&one.1).then(one.2.total_cmp(&other.2)));
    ranks.into_iter().take(SHOWN).map(|(name, ..)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_somewhere_come_first_then_who_comes_nearest() {
        let names: Vec<String> = (0..12).map(|number| format!("path-{number}")).collect();
        // Each path is slower than the previous one by a tenth; the last one is the fastest at the large size.
        let mut costs: Vec<(&str, Vec<(u32, Nanoseconds)>)> = names
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let time = 1.0 + 0.1 * place as f64;
                (name.as_str(), vec![(16, Nanoseconds(time)), (1024, Nanoseconds(10.0 * time))])
            })
            .collect();
        costs[11].1[1].1 = Nanoseconds(1.0);
        costs[5].1.clear();
        let first = first(&costs);
        let expected = [0, 11, 1, 2, 3, 4, 6, 7].map(|place| names[place].as_str());
        assert_eq!(first, expected);
    }
}
