//! `cpb doctor` grades this machine quickly and leaves no files behind.

use cpb_test_support::lab;

#[test]
fn the_grade_comes_first_and_nothing_is_left() {
    let lab = lab!();
    let ran = lab.run("doctor");
    assert!(matches!(ran.status, Some(0 | 1)), "{}", ran.all());
    assert!(ran.stdout.starts_with("machine      "), "{}", ran.all());
    assert!(ran.stdout.contains(" conditions for measuring: "), "{}", ran.all());
    assert!(!lab.path("cpb-results").exists());
    let json = lab.run("doctor --json");
    let grade: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON alone");
    assert!(["good", "fair", "poor"].iter().any(|level| grade["level"] == *level), "{grade}");
    assert!(grade["reasons"].as_array().is_some_and(|reasons| !reasons.is_empty()), "{grade}");
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    let ran = lab!().run("doctor --cpu 4000");
    assert_eq!(ran.status, Some(2), "{}", ran.all());
    assert!(ran.stderr.contains("4000"), "{}", ran.all());
}
