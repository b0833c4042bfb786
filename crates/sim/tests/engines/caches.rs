//! The caches between the core and an engine. Each mistake gives the wrong answer that it gives on a board, and the
//! checker names it; the right sequence gives the right answer, and the checker is silent.

use crate::program::{Ended, checked};
use cpb_sim::{CacheFinding, CacheMistake};

/// The input and the output of jobs, each in a cache line of its own.
const INPUT: u32 = 0x2020_0040;
const OUTPUT: u32 = 0x2020_0080;
const LINE: u32 = 32;

/// What was found, without the instruction.
fn found(ended: &Ended) -> Vec<(CacheMistake, u32, u32)> {
    let findings = ended.machine.cache_findings(&ended.image).expect("they were looked for");
    findings.iter().map(|finding| (finding.mistake, finding.first, finding.last)).collect()
}

fn line(mistake: CacheMistake, address: u32) -> Vec<(CacheMistake, u32, u32)> {
    vec![(mistake, address, address + LINE - 1)]
}

#[test]
fn the_right_sequence_gives_the_right_answer() {
    let test = "engines::the_right_sequence_gives_the_right_answer";
    let body = "
        caches_on
        store 0x20200040, 0x04030201
        store 0x20200080, 0
        maintain DCCMVAC, 0x20200040
        maintain DCIMVAC, 0x20200080
        job 0x20200040, 0x20200080, 4, 100
        wait
        maintain DCIMVAC, 0x20200080
        load r7, 0x20200080
        end";
    let Some(ended) = checked(test, body) else { return };
    assert_eq!(ended.register(7), 0x0504_0302);
    assert_eq!(found(&ended), []);
}

#[test]
fn without_a_clean_the_engine_reads_what_was_there_before() {
    let test = "engines::without_a_clean_the_engine_reads_what_was_there_before";
    let body = "
        caches_on
        store 0x20200040, 0x04030201
        job 0x20200040, 0x20001100, 4, 100
        wait
        load r7, 0x20001100
        end";
    let Some(ended) = checked(test, body) else { return };
    assert_eq!(ended.register(7), 0x0101_0101);
    assert_eq!(found(&ended), line(CacheMistake::NotCleaned, INPUT));
    let text = description(&ended);
    let expected =
        "the copier read 0x20200040..0x2020005f while the cache held newer data: written by start+";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_line_fetched_during_the_job_hides_its_output() {
    let test = "engines::a_line_fetched_during_the_job_hides_its_output";
    let body = |during: &str, after: &str| {
        format!(
            "caches_on
            store 0x20001000, 0x04030201
            maintain DCIMVAC, 0x20200080
            job 0x20001000, 0x20200080, 4, 100
            {during}
            wait
            {after}
            load r7, 0x20200080
            end"
        )
    };
    let fetch = "load r6, 0x2020009C";
    let Some(ended) = checked(test, &body(fetch, "")) else { return };
    assert_eq!(ended.register(7), 0);
    assert_eq!(found(&ended), line(CacheMistake::NotInvalidated, OUTPUT));
    // The same mistake, although this time the line was not fetched.
    let Some(ended) = checked(test, &body("", "")) else { return };
    assert_eq!(ended.register(7), 0x0504_0302);
    assert_eq!(found(&ended), line(CacheMistake::NotInvalidated, OUTPUT));
    let Some(ended) = checked(test, &body(fetch, "maintain DCIMVAC, 0x20200080")) else { return };
    assert_eq!(ended.register(7), 0x0504_0302);
    assert_eq!(found(&ended), []);
}

#[test]
fn of_an_output_and_other_data_in_one_line_one_is_lost() {
    let test = "engines::of_an_output_and_other_data_in_one_line_one_is_lost";
    let body = |register: &str, before: &str, during: &str| {
        format!(
            "caches_on
            store 0x20001000, 0x04030201
            {before}
            job 0x20001000, 0x20200080, 4, 1000
            {during}
            wait
            maintain {register}, 0x20200080
            load r6, 0x2020009C
            load r7, 0x20200080
            end"
        )
    };
    let write = "store 0x2020009C, 0x11111111";
    for (before, during) in [(write, ""), ("", write)] {
        let Some(ended) = checked(test, &body("DCIMVAC", before, during)) else { return };
        assert_eq!((ended.register(6), ended.register(7)), (0, 0x0504_0302));
        assert_eq!(found(&ended), line(CacheMistake::SharedLine, OUTPUT));
        let Some(ended) = checked(test, &body("DCCIMVAC", before, during)) else { return };
        assert_eq!((ended.register(6), ended.register(7)), (0x1111_1111, 0));
        assert_eq!(found(&ended), line(CacheMistake::SharedLine, OUTPUT));
    }
}

#[test]
fn a_write_to_a_line_that_the_cache_holds_in_its_old_state_loses_the_output() {
    let test = "engines::a_write_to_a_line_that_the_cache_holds_in_its_old_state_loses_the_output";
    let body = "
        caches_on
        store 0x20001000, 0x04030201
        load r6, 0x20200080
        job 0x20001000, 0x20200080, 4, 100
        wait
        store 0x2020009C, 0x11111111
        maintain DCCIMVAC, 0x20200080
        load r7, 0x20200080
        end";
    let Some(ended) = checked(test, body) else { return };
    assert_eq!(ended.register(7), 0);
    assert_eq!(found(&ended), line(CacheMistake::SharedLine, OUTPUT));
}

#[test]
fn a_core_that_replaces_all_that_an_engine_wrote_loses_nothing() {
    let test = "engines::a_core_that_replaces_all_that_an_engine_wrote_loses_nothing";
    let body = "
        caches_on
        store 0x20001000, 0x04030201
        load r6, 0x20200080
        job 0x20001000, 0x20200084, 4, 100
        wait
        store 0x20200080, 0x11111111
        store 0x20200084, 0x22222222
        maintain DCCMVAC, 0x20200080
        load r7, 0x20200084
        end";
    let Some(ended) = checked(test, body) else { return };
    assert_eq!(ended.register(7), 0x2222_2222);
    assert_eq!(found(&ended), []);
}

#[test]
fn overwritten_code_runs_on_until_the_instruction_cache_is_invalidated() {
    let test = "engines::overwritten_code_runs_on_until_the_instruction_cache_is_invalidated";
    let body = |invalidate: &str| {
        format!(
            "caches_on
            ldr r5, =changed
            blx r5
            mov r9, r7
            job wanted, place, 4, 100
            wait
            blx r5
            mov r10, r7
            {invalidate}
            dsb
            isb
            blx r5
            end
            .balign 4
            wanted: .byte 0x01, 0x26, 0x6F, 0x46
            .section .ocram, \"ax\"
            .balign 32
            place:
            .thumb_func
            changed: movs r7, #1
            bx lr"
        )
    };
    for (invalidate, at_last) in
        [("maintain ICIALLU, 0", 2), ("maintain ICIMVAU, place", 2), ("maintain DCIMVAC, place", 1)]
    {
        let Some(ended) = checked(test, &body(invalidate)) else { return };
        assert_eq!((ended.register(9), ended.register(10)), (1, 1));
        assert_eq!(ended.register(7), at_last, "{invalidate}");
        let range = (CacheMistake::CodeOverwritten, 0x2021_0000, 0x2021_0003);
        assert_eq!(found(&ended), [range]);
    }
}

/// The only finding in words.
fn description(ended: &Ended) -> String {
    let findings = ended.machine.cache_findings(&ended.image).unwrap_or_default();
    let texts: Vec<String> =
        findings.iter().map(|finding| CacheFinding::describe(finding, &ended.image)).collect();
    texts.join("\n")
}
