//! Lines of records, as random as their types allow.

use cpb_core::kernel::{Availability, KernelChoice, KernelSurvey, SurveyedDriver};
use cpb_core::memory_read::{Cache, Pattern, Region, Width};
use cpb_core::message::{ClockDescription, Counters, CpuTime, Retired};
use cpb_core::sample::Steps;
use cpb_core::{
    Algorithm, Claim, CryptoWorkload, DataSet, Error, KeyUse, Meaning, MemoryReadWorkload,
    Operation, Phase, Placement, Ticks, Unsupported, Workload,
};
use cpb_providers::kernel_crypto::{Driver, Selftest};
use cpb_record::plan::Plan;
use cpb_record::{
    Batch, Cell, Check, Checked, ClockReading, CoreContext, Cores, End, Evidence, Flag, FlagKind,
    Header, Line, NotMeasured, NotMeasuredReason, Printed, ProviderRecord, Published,
    PublishedPath, Quantity, Reading, Round, SCHEMA, Source, Times, When,
};
use cpb_record::{EngineCount, Machine, State};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn word() -> impl Strategy<Value = String> {
    // Any text that a file name, a library's version or a vector's id may contain.
    prop_oneof!["[a-z0-9:./-]{0,20}", any::<String>()]
}

fn workload() -> impl Strategy<Value = Workload> {
    prop_oneof![crypto().prop_map(Workload::Crypto), read().prop_map(Workload::MemoryRead)]
}

fn read() -> impl Strategy<Value = MemoryReadWorkload> {
    let how = (select(Width::ALL), select(Pattern::ALL), any::<u32>());
    let place = (select(Region::ALL), select(Cache::ALL));
    (how, place).prop_map(|((width, pattern, bytes), (region, cache))| MemoryReadWorkload {
        region,
        cache,
        ..MemoryReadWorkload::new(width, pattern, bytes)
    })
}

fn crypto() -> impl Strategy<Value = CryptoWorkload> {
    let what = (select(Algorithm::ALL), select(Operation::ALL), select(Phase::ALL));
    let how = (any::<u32>(), any::<u32>(), select(Placement::ALL), select(KeyUse::ALL));
    (what, how, option::of(any::<u32>())).prop_map(
        |((algorithm, operation, phase), how, chunks)| {
            let (message, associated, placement, keys) = how;
            CryptoWorkload {
                phase,
                associated,
                placement,
                keys,
                data: chunks.map_or(DataSet::Same, |chunks| DataSet::Unique { chunks }),
                ..CryptoWorkload::new(algorithm, operation, message)
            }
        },
    )
}

fn cell() -> impl Strategy<Value = Cell> {
    (word(), workload(), any::<u8>()).prop_map(|(provider, workload, threads)| Cell {
        provider,
        workload,
        threads,
    })
}

fn unsupported() -> impl Strategy<Value = Unsupported> {
    use Unsupported::*;
    select(vec![Algorithm, Mode, Length, Phase, BuildOption, Policy, Permission, Device, Memory])
}

fn error() -> impl Strategy<Value = Error> {
    prop_oneof![
        select(vec![
            Error::WrongAnswer,
            Error::Refused,
            Error::Timeout,
            Error::Contract,
            Error::Crashed
        ]),
        any::<i32>().prop_map(Error::Device),
        (any::<u32>(), meaning()).prop_map(|(code, meaning)| Error::Engine { code, meaning }),
        unsupported().prop_map(Error::Unsupported),
    ]
}

fn meaning() -> impl Strategy<Value = Meaning> {
    use Meaning::*;
    select(vec![Descriptor, Read, Write, Key, Length, Hardware, Undocumented])
}

fn reason() -> impl Strategy<Value = NotMeasuredReason> {
    prop_oneof![
        unsupported().prop_map(NotMeasuredReason::Unsupported),
        (error(), word()).prop_map(|(error, detail)| NotMeasuredReason::Failed { error, detail }),
    ]
}

fn counters() -> impl Strategy<Value = Counters> {
    let times = any::<[u64; 4]>();
    let counts = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u64>());
    let optional = || option::of(any::<u64>());
    let retired = (any::<[u64; 2]>(), [optional(), optional()]);
    let steps = option::of(any::<[u64; 4]>());
    let machine = option::of(any::<[u64; 3]>());
    let rest = (option::of(any::<u32>()), machine, option::of(retired), steps);
    (times, counts, (optional(), optional(), [optional(), optional()], rest)).prop_map(
        |(
            [wall_ns, cpu_ns, user_ns, system_ns],
            counts,
            (cycles, instructions, [interrupts, jobs], (stack, machine, retired, steps)),
        )| {
            Counters {
                operations: counts.3,
                wall_ns,
                cpu_ns,
                user_ns,
                system_ns,
                voluntary: counts.0,
                involuntary: counts.1,
                faults: counts.2,
                cycles,
                instructions,
                interrupts,
                jobs,
                retired: retired.map(|([operations, user], [kernel, cpu])| Retired {
                    operations,
                    user,
                    kernel,
                    cpu,
                }),
                steps: steps.map(|[operations, build, dispatch, completion]| Steps {
                    operations,
                    build: Ticks(build),
                    dispatch: Ticks(dispatch),
                    completion: Ticks(completion),
                }),
                stack,
                machine: machine.map(|[busy_ns, softirq_ns, total_ns]| CpuTime {
                    busy_ns,
                    softirq_ns,
                    total_ns,
                }),
            }
        },
    )
}

fn round() -> impl Strategy<Value = Round> {
    let reading = || any::<(u64, u64)>().prop_map(|(chain, burst)| Reading(chain, burst));
    let batch = (any::<u64>(), reading(), reading()).prop_map(|(t, b, a)| Batch(t, b, a));
    let samples = vec(vec(batch, 0..4), 0..3);
    let place = (cell(), any::<u32>(), any::<u64>(), any::<u32>(), any::<u32>(), word());
    let times = || (vec(any::<(u16, u32)>(), 0..4), any::<u64>());
    let seen = (samples, times(), option::of(times()), counters());
    (place, seen).prop_map(|(place, (samples, (latency, latency_max), in_flight, counters))| {
        let (cell, pass, at_ms, reference_cycles, iterations, output) = place;
        Round {
            cell,
            pass,
            at_ms,
            reference_cycles,
            iterations,
            output,
            samples,
            latency,
            latency_max,
            latency_in_flight: in_flight.map(|(buckets, max)| Times { buckets, max }),
            counters,
        }
    })
}

fn state() -> impl Strategy<Value = State> {
    let temperature = (option::of(any::<i64>()), option::of(any::<i64>()));
    let load = (0..1_000_000u32).prop_map(|hundredths| f64::from(hundredths) / 100.0);
    (word(), any::<u64>(), any::<(u64, u64)>(), temperature, load, any::<bool>()).prop_map(
        |(governor, number, limits, temperature, load, on_battery)| State {
            governor,
            frequency_khz: number,
            frequency_limits_khz: limits,
            throttled: number / 3,
            temperature_millicelsius: temperature.0,
            temperature_limit_millicelsius: temperature.1,
            load,
            steal: number / 7,
            runnable: number / 11,
            busy: number / 13,
            own: number / 17,
            elapsed: number / 19,
            on_battery,
            engine: on_battery.then_some(EngineCount {
                jobs: number / 23,
                failed: number / 29,
                commands: number / 30,
                bytes: number / 31,
                interrupts: number / 37,
                deepest: (number % 512) as u32,
                job_us: (number % 9) as u32,
                times_of: if number % 2 == 0 { String::new() } else { format!("chip{number}") },
            }),
        },
    )
}

fn machine() -> impl Strategy<Value = Machine> {
    let words = vec(word(), 8);
    (words, vec(word(), 0..4), any::<u32>(), vec(any::<usize>(), 0..3), state()).prop_map(
        |(words, features, number, siblings, state)| Machine {
            name: words[0].clone(),
            architecture: words[1].clone(),
            cpu: words[2].clone(),
            core: words[3].clone(),
            microcode: words[4].clone(),
            kernel: words[5].clone(),
            libc: words[6].clone(),
            virtualisation: words[7].clone(),
            features,
            cpus: number as usize,
            counter_hz: number.into(),
            siblings,
            state,
            ..Machine::default()
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    let shares = (1..=5000u32, 1..=86_000u32, option::of("[a-z]{1,8}"));
    (shares, vec(any::<u8>(), 0..3)).prop_map(|((hundredths, seconds, provider), threads)| {
        let mut plan = cpb::library::plan(None).expect("the built-in plan");
        plan.precision = Some(format!("{}%", f64::from(hundredths) / 100.0).parse().unwrap());
        plan.budget = format!("{}s", f64::from(seconds) / 7.0 + 0.1).parse().unwrap();
        plan.providers = provider.into_iter().collect();
        plan.threads = threads;
        if hundredths % 2 == 0 {
            let reads =
                cpb::library::plan(Some("memory-read".as_ref())).expect("a plan that is carried");
            plan.memory_read = reads.memory_read;
        }
        plan
    })
}

fn claim() -> impl Strategy<Value = Claim> {
    select(vec![Claim::Process, Claim::Kernel, Claim::Fallback, Claim::Engine, Claim::Unknown])
}

fn provider() -> impl Strategy<Value = ProviderRecord> {
    let clock = any::<(u64, u64, u64, u32, u8, bool)>().prop_map(|fields| ClockDescription {
        frequency: fields.0,
        resolution: Ticks(fields.1),
        cost: Ticks(fields.2),
        reference_cycles: fields.3,
        multiply_latency: fields.4,
        counts_cycles: fields.5,
    });
    prop_oneof![
        (word(), word(), claim(), word(), clock).prop_map(
            |(version, executor, claim, options, clock)| {
                ProviderRecord::Available { version, executor, claim, options, clock }
            }
        ),
        (unsupported(), word())
            .prop_map(|(reason, detail)| ProviderRecord::Unavailable { reason, detail }),
    ]
}

pub(crate) fn header() -> impl Strategy<Value = Header> {
    let evidence = select(vec![
        Evidence::Hardware,
        Evidence::Emulated,
        Evidence::Simulated,
        Evidence::Published,
        Evidence::Imported,
    ]);
    let providers = proptest::collection::btree_map(word(), provider(), 0..3);
    let lists = (vec(any::<usize>(), 0..3), providers, vec(word(), 0..3));
    (word(), word(), evidence, machine(), plan(), lists, kernel()).prop_map(
        |(version, began, evidence, machine, plan, (cpus, providers, warnings), kernel)| Header {
            target: String::new(),
            schema: SCHEMA,
            version,
            began,
            evidence,
            machine,
            plan,
            cpus,
            providers,
            kernel,
            warnings,
        },
    )
}

/// What a kernel offers, or nothing.
fn kernel() -> impl Strategy<Value = Option<Box<KernelSurvey>>> {
    let reach = || {
        prop_oneof![
            select(vec![
                Availability::Reachable,
                Availability::Policy,
                Availability::NotSetUp,
                Availability::SelftestFailed,
                Availability::InTest,
                Availability::KernelOnly,
            ]),
            word().prop_map(Availability::Absent),
            word().prop_map(Availability::Permission),
            any::<i32>().prop_map(Availability::Failed),
        ]
    };
    let words = (word(), word(), proptest::option::of(word()), vec(word(), 0..3));
    let numbers = (any::<i32>(), any::<u32>(), any::<Option<(u32, u32)>>(), any::<Option<u32>>());
    let driver = (words, numbers, any::<Option<bool>>(), any::<bool>(), reach()).prop_map(
        |((name, driver, module, devices), numbers, asynchronous, internal, reach)| {
            let (priority, references, key_bytes, flags) = numbers;
            let (kind, selftest) = ("skcipher".to_owned(), Selftest::Passed);
            let driver = Driver {
                name,
                driver,
                module,
                priority,
                kind,
                asynchronous,
                internal,
                selftest,
                references,
                key_bytes,
                flags,
            };
            SurveyedDriver { driver, reach, interrupts: devices.clone(), devices }
        },
    );
    let choice = (word(), word(), proptest::option::of(word()), any::<bool>()).prop_map(
        |(name, preferred, taken, fell_back)| KernelChoice { name, preferred, taken, fell_back },
    );
    let survey = (reach(), vec(driver, 0..3), vec(choice, 0..3))
        .prop_map(|(af_alg, drivers, choices)| Box::new(KernelSurvey { af_alg, drivers, choices }));
    proptest::option::of(survey)
}

fn source() -> impl Strategy<Value = Source> {
    let path = (word(), word(), word()).prop_map(|(version, executor, options)| PublishedPath {
        version,
        executor,
        options,
    });
    let paths = proptest::collection::btree_map(word(), path, 0..3);
    (vec(word(), 5), paths, vec(word(), 0..3), cores()).prop_map(|(words, paths, notes, cores)| {
        Source {
            table: words[0].clone(),
            title: words[1].clone(),
            publisher: words[2].clone(),
            date: words[3].clone(),
            place: words[4].clone(),
            paths,
            notes,
            cores,
        }
    })
}

fn cores() -> impl Strategy<Value = Option<Box<Cores>>> {
    let khz = || option::of(any::<u64>());
    let when = select(vec![When::Before, When::After]);
    let clock = (when, khz(), khz(), vec(any::<u64>(), 0..3), any::<u32>()).prop_map(
        |(when, stated_khz, firmware_khz, measured_khz, line)| ClockReading {
            when,
            stated_khz,
            firmware_khz,
            measured_khz,
            line,
        },
    );
    let words = (word(), word(), vec(word(), 0..3), vec(word(), 0..3));
    let cores = (vec(any::<u32>(), 0..3), words, option::of(any::<bool>()), khz());
    let parts = (cores, vec(clock, 0..3), core_context());
    let cores = parts.prop_map(|((cpus, words, pinned, stated_khz), clocks, context)| {
        let (name, revision, others, features) = words;
        Box::new(Cores {
            cpus,
            name,
            revision,
            others,
            pinned,
            features,
            stated_khz,
            clocks,
            context,
        })
    });
    option::of(cores)
}

fn core_context() -> impl Strategy<Value = CoreContext> {
    let number = || option::of(any::<u64>());
    let others = (option::of(any::<i32>()), option::of(any::<u32>()));
    (number(), number(), number(), others).prop_map(
        |(reported_khz, memcpy, memset, (millicelsius, seven_zip_mips))| CoreContext {
            reported_khz,
            millicelsius,
            memcpy_kilobytes_per_second: memcpy,
            memset_kilobytes_per_second: memset,
            seven_zip_mips,
        },
    )
}

fn published() -> impl Strategy<Value = Published> {
    let flag =
        (select(FlagKind::ALL.as_slice()), word()).prop_map(|(kind, why)| Flag { kind, why });
    let figure =
        (select(Quantity::ALL.as_slice()), word(), option::of(flag), option::of(any::<u32>()))
            .prop_map(|(quantity, printed, flag, line)| Printed { quantity, printed, flag, line });
    let told = (option::of(word()), option::of(word()), option::of(any::<u32>()));
    let numbers = (option::of(any::<u64>()), vec(figure, 0..3));
    (vec(word(), 6), told, numbers).prop_map(|(words, told, (core_hz, figures))| Published {
        table: words[0].clone(),
        row: words[1].clone(),
        column: words[2].clone(),
        machine: words[3].clone(),
        core_hz,
        provider: words[4].clone(),
        algorithm: words[5].clone(),
        operation: told.0,
        phase: told.1,
        bytes: told.2,
        figures,
    })
}

fn checked(cell: Cell) -> Option<(String, Checked)> {
    Some((cell.provider, Checked::of(&cell.workload)?))
}

pub(crate) fn line() -> impl Strategy<Value = Line> {
    let check = (
        cell().prop_filter_map("of no known family", checked),
        any::<(u32, u32, u32, u32)>(),
        option::of(word()),
    )
        .prop_map(|((provider, what), (right, distinct, round_trips, unsupported), wrong)| Check {
            distinct,
            round_trips,
            provider,
            what,
            right,
            unsupported,
            wrong,
        });
    let end = (word(), any::<bool>(), state(), vec(word(), 0..3)).prop_map(
        |(ended, interrupted, state, warnings)| End { ended, interrupted, state, warnings },
    );
    prop_oneof![
        header().prop_map(|header| Line::Cpb(Box::new(header))),
        check.prop_map(Line::Check),
        round().prop_map(Line::Round),
        (cell(), reason())
            .prop_map(|(cell, outcome)| Line::NotMeasured(NotMeasured { cell, outcome })),
        source().prop_map(Line::Source),
        published().prop_map(Line::Published),
        word().prop_map(Line::Warning),
        end.prop_map(Line::End),
    ]
}
