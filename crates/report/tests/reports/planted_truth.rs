//! Planted costs are recovered from the noise of real runs; `bench/planted_truth.py` does the same with more
//! seeds and narrower bounds.

use cpb_test_support::planted;

#[test]
fn crossovers_lie_in_their_intervals_and_never_is_true() {
    let score = planted::score(0, 1000);
    assert_eq!((score.crossing, score.without, score.switches), (600, 200, 200));
    assert!(score.coverage() >= 0.93, "{}", score.coverage());
    assert!(score.never_right() >= 0.97 && score.said_rightly >= 194, "{}", score.never_right());
    assert!(score.made_up <= 6, "{} crossovers that do not exist", score.made_up);
    assert!(score.found >= 190, "{} of {} switches", score.found, score.switches);
    // The planted costs are lines, so the estimate between two sizes is as good as possible.
    assert!(score.off() < 0.5, "estimates are off by {} of the oracle's width", score.off());
}
