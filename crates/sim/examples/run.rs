//! The minimum needed to run a program: `run PROGRAM.elf [CHIP]`. Prints the cycles and the speed of the
//! simulation.

use cpb_sim::{Chip, Console, Image, Machine};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let path = arguments.get(1).ok_or("which program?")?;
    let chip = Chip::named(arguments.get(2).map_or("imxrt1060", String::as_str))?;
    let image = Image::parse(&std::fs::read(path)?)?;
    let mut machine = Machine::new(chip);
    image.load(&mut machine)?;
    machine.boot(&image);
    machine.set_max_cycles(
        std::env::var("MAX").ok().and_then(|m| m.parse().ok()).unwrap_or(10_000_000_000),
    );
    machine.set_console(Console::new(Box::new(std::io::stdout()), None));
    if std::env::var_os("PROFILE").is_some() {
        machine.measure_mut().keep_profile(&image);
    }
    let begun = Instant::now();
    let stop = machine.run();
    let seconds = begun.elapsed().as_secs_f64();
    if !stop.is_success() {
        eprintln!("{}", machine.diagnose(stop, &image));
    }
    let (cycles, instructions) = (machine.cycles() as f64, machine.instructions() as f64);
    eprintln!("{cycles} cycles, {instructions} instructions, {seconds:.3} s");
    eprintln!("{:.1} M cycles/s, {:.1} MIPS", cycles / seconds / 1e6, instructions / seconds / 1e6);
    if let Some(p) = machine.measure().profiled() {
        eprintln!("{:?}", cpb_sim::CAUSE_NAMES);
        for (n, i, s) in p.by_function().iter().take(14) {
            eprintln!("{n:50} {i:>10} {:>10} {s:?}", s.iter().sum::<u64>());
        }
    }
    Ok(())
}
