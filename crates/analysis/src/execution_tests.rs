use super::*;
use crate::fixtures::{self, batch};
use cpb_core::message::{Counters, CpuTime};
use cpb_core::{Algorithm, CryptoWorkload, Dispatch, Operation};

const DRIVER: &str = "cbc-aes-caam";

/// Rounds of 1,000 operations that took 10 ms each, with these numbers of interrupts.
fn rounds(interrupts: &[Option<u64>]) -> Vec<Round> {
    let counted = |(pass, interrupts): (usize, &Option<u64>)| {
        let samples = vec![vec![batch(200_000, 10_000, 10_000)]];
        let counters = Counters {
            operations: 1_000,
            wall_ns: 10_000_000,
            interrupts: *interrupts,
            ..Counters::default()
        };
        Round { counters, ..fixtures::round(pass as u32, 100, samples) }
    };
    interrupts.iter().enumerate().map(counted).collect()
}

fn workload() -> Workload {
    crypto().into()
}

fn crypto() -> CryptoWorkload {
    CryptoWorkload::new(Algorithm::Aes128Cbc, Operation::Encrypt, 1024)
}

fn verdict(claim: Claim, interrupts: &[Option<u64>]) -> Result<ExecutorVerdict, String> {
    judge(claim, DRIVER, &workload(), &rounds(interrupts))
}

fn reason(claim: Claim, interrupts: &[Option<u64>]) -> String {
    verdict(claim, interrupts).expect_err("unproven")
}

#[test]
fn an_engine_that_interrupted_for_each_operation_is_what_accelerated_it() {
    for interrupts in [1_000, 998, 1_003, 500] {
        assert_eq!(
            verdict(Claim::Engine, &[Some(interrupts); 12]),
            Ok(ExecutorVerdict::Accelerated)
        );
        assert_eq!(
            verdict(Claim::Unknown, &[Some(interrupts); 12]),
            Ok(ExecutorVerdict::Accelerated)
        );
    }
}

#[test]
fn jobs_that_an_engine_counted_prove_it_without_interrupts() {
    let with_jobs = |jobs: u64, interrupts| {
        let mut rounds = rounds(&[interrupts; 12]);
        rounds.iter_mut().for_each(|round| round.counters.jobs = Some(jobs));
        judge(Claim::Engine, DRIVER, &workload(), &rounds)
    };
    for jobs in [1_000, 2_000, 900] {
        assert_eq!(with_jobs(jobs, Some(0)), Ok(ExecutorVerdict::Accelerated));
        assert_eq!(with_jobs(jobs, None), Ok(ExecutorVerdict::Accelerated));
    }
    // Software did most of the work.
    let few = with_jobs(500, None).expect_err("unproven");
    assert!(few.contains("fewer jobs than there were operations"), "{few}");
}

#[test]
fn a_driver_s_name_without_its_interrupts_proves_nothing() {
    let none = reason(Claim::Engine, &[None; 12]);
    assert!(none.contains(DRIVER) && none.contains("no dedicated interrupt lines"), "{none}");
    let zero = reason(Claim::Engine, &[Some(0); 12]);
    assert!(zero.contains("counted no interrupts"), "{zero}");
    // Some requests went to the engine, and the driver ran the others on the CPU.
    let few = reason(Claim::Engine, &[Some(300); 12]);
    assert!(few.contains("in only 0 of 12 rounds"), "{few}");
    // Another user of the engine, for a while.
    let mixed = [&[Some(0); 6][..], &[Some(1_000); 6]].concat();
    let mixed = reason(Claim::Engine, &mixed);
    assert!(mixed.contains("in only 6 of 12 rounds"), "{mixed}");
    // A round in which the counters were not read is not a round without interrupts.
    let unread = [&[Some(1_000); 11][..], &[None]].concat();
    assert!(verdict(Claim::Engine, &unread).is_err());
}

#[test]
fn one_round_in_ten_may_miss_its_interrupts() {
    let late = [&[Some(0)][..], &[Some(1_000); 10]].concat();
    assert_eq!(verdict(Claim::Engine, &late), Ok(ExecutorVerdict::Accelerated));
}

#[test]
fn interrupts_without_a_driver_s_name_prove_nothing() {
    let found = judge(Claim::Engine, "", &workload(), &rounds(&[Some(1_000); 12]));
    assert_eq!(found, Err("no driver is named".to_owned()));
}

#[test]
fn a_queue_may_be_ended_by_one_interrupt() {
    let queued = |depth| -> Workload {
        CryptoWorkload { dispatch: Dispatch { depth, ..Dispatch::SERIAL }, ..crypto() }.into()
    };
    let rounds = rounds(&[Some(62); 12]); // 1,000 operations, 16 at a time
    let judged = |depth| judge(Claim::Engine, DRIVER, &queued(depth), &rounds);
    assert!(judged(Depth::Jobs(1)).is_err());
    assert_eq!(judged(Depth::Jobs(16)), Ok(ExecutorVerdict::Accelerated));
    assert_eq!(judged(Depth::Ring), Ok(ExecutorVerdict::Accelerated));
}

#[test]
fn what_runs_on_the_cpu_is_software_and_what_fell_back_says_so() {
    for interrupts in [None, Some(0), Some(3)] {
        assert_eq!(verdict(Claim::Process, &[interrupts; 3]), Ok(ExecutorVerdict::Software));
        assert_eq!(verdict(Claim::Kernel, &[interrupts; 3]), Ok(ExecutorVerdict::Software));
        assert_eq!(verdict(Claim::Fallback, &[interrupts; 3]), Ok(ExecutorVerdict::FellBack));
    }
    for claim in [Claim::Kernel, Claim::Fallback] {
        let contradiction = reason(claim, &[Some(1_000); 3]);
        assert!(contradiction.contains("an engine raised interrupts"), "{contradiction}");
    }
    let unknown = reason(Claim::Unknown, &[None; 3]);
    assert!(unknown.contains("it is unknown"), "{unknown}");
}

#[test]
fn a_handful_of_operations_proves_nothing() {
    let mut few = rounds(&[Some(2); 3]);
    few.iter_mut().for_each(|round| round.counters.operations = 2);
    let found = judge(Claim::Engine, DRIVER, &workload(), &few);
    assert!(found.is_err_and(|why| why.contains("only 6 operations")));
    let none = judge(Claim::Engine, DRIVER, &workload(), &[]);
    assert!(none.is_err_and(|why| why.contains("only 0 operations")));
}

/// What a record of these rounds says about their only cell.
fn execution(evidence: Evidence, change: impl Fn(&mut Counters)) -> Execution {
    let mut rounds = rounds(&[Some(1_000); 20]);
    rounds.iter_mut().for_each(|round| change(&mut round.counters));
    let mut record = fixtures::record([rounds.clone()].into_iter());
    record.header.evidence = evidence;
    let Some(ProviderRecord::Available { executor, claim, .. }) =
        record.header.providers.get_mut("openssl")
    else {
        panic!("it is there");
    };
    (*executor, *claim) = (DRIVER.to_owned(), Claim::Engine);
    of(&record, &rounds[0].cell.clone(), &rounds).expect("rounds")
}

#[test]
fn planted_counts_come_out_per_operation_and_per_byte() {
    let found = execution(Evidence::Hardware, |counters| {
        counters.voluntary = 2_000;
        counters.involuntary = 30;
        counters.cpu_ns = 4_000_000;
        (counters.user_ns, counters.system_ns) = (1_000_000, 3_000_000);
        counters.machine =
            Some(CpuTime { busy_ns: 12_000_000, softirq_ns: 2_000_000, total_ns: 40_000_000 });
    });
    assert_eq!((found.verdict, &found.reason), (ExecutorVerdict::Accelerated, &None));
    assert_eq!((found.executor.as_str(), found.operations), (DRIVER, 20_000));
    assert_eq!(found.interrupts_per_operation, Some(1.0));
    let switches = found.switches.unwrap();
    assert_eq!((switches.voluntary, switches.involuntary), (2.0, 0.03));
    assert_eq!(switches.all(), 2.03);
    let Known::Measured(cpu) = &found.cpu else { panic!("{found:?}") };
    assert_eq!((cpu.own, cpu.user, cpu.system), (0.4, Some(0.1), Some(0.3)));
    assert_eq!((cpu.machine, cpu.softirq), (Some(0.3), Some(0.05)));
    // 80 ms for 20,000 messages of 16 KiB.
    let seconds = cpu.seconds_per_megabyte.unwrap().0;
    assert!((seconds / (0.08 / (20_000.0 * 16384.0 / 1e6)) - 1.0).abs() < 1e-12, "{seconds}");
}

#[test]
fn an_emulator_tells_counts_and_no_use_of_its_cpu() {
    let found = execution(Evidence::Emulated, |counters| counters.cpu_ns = 4_000_000);
    assert_eq!(
        (found.verdict, found.interrupts_per_operation),
        (ExecutorVerdict::Accelerated, Some(1.0))
    );
    assert!(found.switches.is_some());
    let Known::Without(NoFigure::Meaningless(words)) = &found.cpu else { panic!("{found:?}") };
    assert!(words.starts_with("emulated: "), "{words}");
}

#[test]
fn what_was_not_counted_is_no_figure_and_never_a_division_by_nothing() {
    let zeros = execution(Evidence::Hardware, |counters| *counters = Counters::default());
    assert_eq!(zeros.verdict, ExecutorVerdict::Unproven);
    assert_eq!((zeros.interrupts_per_operation, zeros.switches), (None, None));
    assert_eq!(zeros.cpu, Known::Without(NoFigure::NotCounted));
    // openssl speed divides bytes by the CPU time it used. Engines use next to none, so it prints `infk`. Here zero
    // CPU time is a share of 0, and the rate uses the wall clock.
    let idle = execution(Evidence::Hardware, |counters| counters.cpu_ns = 0);
    let Known::Measured(cpu) = &idle.cpu else { panic!("{idle:?}") };
    assert_eq!((cpu.own, cpu.seconds_per_megabyte), (0.0, Some(SecondsPerMegabyte(0.0))));
    assert_eq!((cpu.user, cpu.system, cpu.machine), (None, None, None));
    let stopped = execution(Evidence::Hardware, |counters| counters.wall_ns = 0);
    assert!(matches!(stopped.cpu, Known::Without(NoFigure::Broken(_))));
}

#[test]
fn the_machine_s_time_is_told_only_where_there_was_enough_of_it() {
    let machine = |total_ns| {
        let found = execution(Evidence::Hardware, |counters| {
            counters.machine = Some(CpuTime { busy_ns: total_ns / 2, softirq_ns: 0, total_ns });
        });
        found.cpu.measured().and_then(|cpu| cpu.machine)
    };
    assert_eq!(machine(20_000_000), None); // 20 rounds of it are 40 steps of 10 ms
    assert_eq!(machine(30_000_000), Some(0.5));
}
