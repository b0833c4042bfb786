//! Engines as bus masters: their interrupts, their time on the bus, and the memory as they see it.

mod caches;
mod copier;
mod program;

use cpb_sim::Stop;
use program::{done, run};

const ENABLE_INTERRUPT: &str = "
    ldr r0, =0xE000E104
    mov r1, #0x40000
    str r1, [r0]
";

#[test]
fn an_interrupt_wakes_the_core_at_its_cycle() {
    let test = "engines::an_interrupt_wakes_the_core_at_its_cycle";
    let body = format!(
        "{ENABLE_INTERRUPT}
        store 0x20001000, 0x04030201
        job 0x20001000, 0x20001100, 4, 1000
        wfi
        dbg #2
        ldr r0, =0x20001100
        ldr r7, [r0]
        end"
    );
    let Some(ended) = done(test, &body) else { return };
    assert_eq!(ended.register(7), 0x0504_0302);
    assert_eq!(ended.register(8), 1, "the handler ran once");
    let due = ended.jobs[0].started + 1000;
    assert_eq!(ended.jobs[0].performed, due);
    // Twelve cycles to enter the handler, and its first fetch.
    let latency = ended.marks()[0] - due;
    assert!((12..16).contains(&latency), "the handler ran {latency} cycles after the job");
}

#[test]
fn a_program_that_polls_sees_the_end_of_the_job() {
    let test = "engines::a_program_that_polls_sees_the_end_of_the_job";
    let body = "
        store 0x20200000, 0x04030201
        job 0x20200000, 0x20001100, 4, 1000
        wait
        dbg #1
        ldr r0, =0x20001100
        ldr r7, [r0]
        end";
    let Some(ended) = done(test, body) else { return };
    assert_eq!(ended.register(7), 0x0504_0302);
    let late = ended.marks()[0] - ended.jobs[0].started - 1000;
    assert!(late < 150, "seen {late} cycles after the end");
}

#[test]
fn a_handler_that_clears_the_cause_is_not_entered_again_and_one_that_does_not_is() {
    let test =
        "engines::a_handler_that_clears_the_cause_is_not_entered_again_and_one_that_does_not_is";
    let body = format!(
        "{ENABLE_INTERRUPT}
        job 0x20001000, 0x20001100, 4, 100
        wfi
        mov r0, #200
        1: subs r0, r0, #1
        bne 1b
        end"
    );
    let Some(ended) = done(test, &body) else { return };
    assert_eq!(ended.register(8), 1);
    // With another base, the handler writes to memory instead of to the register.
    let stuck = body.replace("wfi", "ldr r4, =0x20003000\nwfi");
    let Some(ended) = run(test, &stuck, |machine| machine.set_max_cycles(5000)) else { return };
    assert_eq!(ended.stop, Stop::MaxCycles);
    assert!(ended.register(8) > 20, "entered {} times", ended.register(8));
}

#[test]
fn a_wait_that_nothing_can_end_is_reported() {
    let test = "engines::a_wait_that_nothing_can_end_is_reported";
    // The interrupt is not enabled, so the end of the job wakes nothing.
    let job = "job 0x20001000, 0x20001100, 4, 100\n";
    let cases = [
        (format!("{job} 1: wfi\n b 1b"), Stop::Sleeps),
        (format!("{job} 1: b 1b"), Stop::Loops),
        (format!("{ENABLE_INTERRUPT} 1: wfi\n b 1b"), Stop::Sleeps),
        (format!("{ENABLE_INTERRUPT} 1: b 1b"), Stop::Loops),
        (format!("{ENABLE_INTERRUPT} {job} 1: b 1b"), Stop::Loops),
    ];
    for (body, expected) in cases {
        let Some(ended) = run(test, &format!("{body}\nend"), |_| {}) else { return };
        assert_eq!(ended.stop, expected, "{body}");
    }
}

#[test]
fn only_memory_answers_a_bus_master() {
    let test = "engines::only_memory_answers_a_bus_master";
    let cases = [
        ("0x20001000, 0x00001000", 1),
        ("0x60000000, 0x20200000", 1),
        ("0x20200000, 0x60000000", 3),
        ("0x40184000, 0x20200000", 3),
        ("0x2001FFFC, 0x20200000", 3),
    ];
    for (addresses, status) in cases {
        let body = format!("job {addresses}, 8, 100\nwait\nmov r7, r0\nend");
        let Some(ended) = done(test, &body) else { return };
        assert_eq!(ended.register(7), status, "{addresses}");
    }
}

#[test]
fn code_that_an_engine_writes_is_decoded_anew() {
    let test = "engines::code_that_an_engine_writes_is_decoded_anew";
    // The engine turns `movs r7, #1` into `movs r7, #2`, and the rest into itself.
    let body = "
        bl changed
        mov r9, r7
        job wanted, place, 4, 100
        wait
        bl changed
        end
        .balign 4
        place:
        .thumb_func
        changed: movs r7, #1
        bx lr
        .balign 4
        wanted: .byte 0x01, 0x26, 0x6F, 0x46";
    let Some(ended) = done(test, body) else { return };
    assert_eq!((ended.register(9), ended.register(7)), (1, 2));
}

#[test]
fn the_core_and_an_engine_take_turns_on_the_bus() {
    let test = "engines::the_core_and_an_engine_take_turns_on_the_bus";
    // A hundred reads of on-chip memory without a cache, and a hundred of tightly coupled memory.
    let body = |job: &str, address: &str| {
        format!(
            "{job}
            ldr r0, ={address}
            mov r1, #100
            dbg #1
            1: ldr r2, [r0]
            subs r1, r1, #1
            bne 1b
            dbg #2
            wait
            end"
        )
    };
    let job = "job 0x20001000, 0x20001100, 4, 20000";
    let cycles = |job: &str, address: &str| {
        let body = body(job, address);
        let body = if job.is_empty() { body.replace("wait", "") } else { body };
        let ended = done(test, &body)?;
        let marks = ended.marks();
        Some((marks[1] - marks[0], ended.jobs.first().map_or(0, |job| job.delayed)))
    };
    let (Some(alone), Some(both)) = (cycles("", "0x20200000"), cycles(job, "0x20200000")) else {
        return;
    };
    // A beat is four cycles of the core. Some more pass at first, while the start of the job is written.
    let longer = both.0 - alone.0;
    assert!((400..420).contains(&longer), "{longer} cycles more");
    assert_eq!(both.1, 400);
    let (Some(alone), Some(both)) = (cycles("", "0x20002000"), cycles(job, "0x20002000")) else {
        return;
    };
    assert!(both.0.abs_diff(alone.0) < 5 && both.1 == 0, "{both:?} instead of {alone:?}");
}
