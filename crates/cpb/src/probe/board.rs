//! A board without an operating system, as its firmware describes it.

use super::arm;
use crate::transport::BoardIdentity;
use cpb_record::Machine;
use cpb_record::evidence::{NO_CYCLE_COUNTER, SIMULATOR};

/// What is known of a board.
pub fn of_board(board: &BoardIdentity) -> Machine {
    let stands_still = if board.cycle_counter { "" } else { NO_CYCLE_COUNTER };
    Machine {
        board: board.name.clone(),
        architecture: "armv7e-m".to_owned(),
        cpu: arm::name(board.cpuid),
        core: format!("CPUID 0x{:08x}", board.cpuid),
        cpus: 1,
        virtualisation: stands_still.to_owned(),
        ..Machine::default()
    }
}

/// The same for a simulated board.
pub fn of_simulated_board(board: &BoardIdentity) -> Machine {
    Machine { virtualisation: SIMULATOR.to_owned(), ..of_board(board) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpb_record::Evidence;
    use cpb_record::evidence::evidence;

    #[test]
    fn a_board_counts_cycles_and_an_emulator_of_one_does_not() {
        let board = |cycle_counter| {
            // i.MX RT1060 data sheet: Cortex-M7 r1p1.
            let name = "imxrt1060-evk".to_owned();
            BoardIdentity { name, cpuid: 0x411f_c271, cycle_counter }
        };
        let simulated = of_simulated_board(&board(true));
        let board = |cycle_counter| of_board(&board(cycle_counter));
        assert_eq!(board(true).words(), "imxrt1060-evk, Cortex-M7 r1p1, armv7e-m");
        assert_eq!(evidence(&board(true), true), Evidence::Hardware);
        assert_eq!(evidence(&board(false), false), Evidence::Emulated);
        assert_eq!(evidence(&simulated, true), Evidence::Simulated);
    }
}
