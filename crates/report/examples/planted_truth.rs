//! How often planted crossovers, their absence and switches inside a path are found again, over as
//! many seeds as the command line says. For bench/planted_truth.py: a word and a figure a line.

use cpb_test_support::planted;

fn main() {
    let seeds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let score = planted::score(1_000_000, seeds);
    println!("crossing {}", score.crossing);
    println!("inside {}", score.inside);
    println!("off {:.3}", score.off());
    println!("without {}", score.without);
    println!("said_rightly {}", score.said_rightly);
    println!("said_wrongly {}", score.said_wrongly);
    println!("made_up {}", score.made_up);
    println!("switches {}", score.switches);
    println!("found {}", score.found);
}
