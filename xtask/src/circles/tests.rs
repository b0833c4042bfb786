use super::*;

/// The circles of a crate that consists of these files; `lib.rs` is its root.
fn planted(files: &[(&str, &str)]) -> Vec<Circle> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    circles(folder.path(), &folder.path().join("lib.rs")).unwrap()
}

/// Only the files of the circles.
fn files(circles: &[Circle]) -> Vec<Vec<String>> {
    let names =
        |circle: &Circle| circle.files.iter().map(|file| file.display().to_string()).collect();
    circles.iter().map(names).collect()
}

fn entry(files: &[&str], reason: &str) -> Entry {
    Entry { files: files.iter().map(PathBuf::from).collect(), reason: reason.to_owned() }
}

const ROOT: (&str, &str) = ("lib.rs", "mod a; mod b; mod c;");

#[test]
fn files_that_use_each_other_are_a_circle_and_the_way_round_names_the_lines() {
    let found = planted(&[
        ROOT,
        ("a.rs", "use crate::b::B;\npub struct A(B);"),
        ("b.rs", "use crate::c::C;\npub struct B(C);"),
        ("c.rs", "\npub struct C(Option<Box<crate::a::A>>);"),
    ]);
    assert_eq!(files(&found), [["a.rs", "b.rs", "c.rs"]]);
    assert_eq!(
        found[0].way,
        ["a.rs:1 crate::b::B -> b.rs", "b.rs:1 crate::c::C -> c.rs", "c.rs:2 crate::a::A -> a.rs"]
    );
}

#[test]
fn files_that_use_others_one_way_are_none() {
    let found = planted(&[
        ROOT,
        ("a.rs", "use crate::{b::B, c::C}; pub struct A(B, C);"),
        ("b.rs", "use super::c::C; pub struct B(C);"),
        ("c.rs", "pub struct C;"),
    ]);
    assert!(found.is_empty(), "{:?}", files(&found));
}

#[test]
fn a_module_and_what_is_below_it_may_use_each_other() {
    let found = planted(&[
        ("lib.rs", "mod a; pub struct Root; pub use a::A;"),
        ("a.rs", "mod inner; pub struct A(crate::Root, inner::Inner); pub struct Given;"),
        ("a/inner.rs", "use super::Given; pub struct Inner(Given, crate::Root);"),
    ]);
    assert!(found.is_empty(), "{:?}", files(&found));
}

#[test]
fn submodules_of_one_module_are_a_circle_if_they_use_each_other() {
    let found = planted(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod one; mod two; pub struct A(one::One);"),
        ("a/one.rs", "pub struct One(super::two::Two);"),
        ("a/two.rs", "use super::{A, one}; pub struct Two(Option<Box<one::One>>, Option<Box<A>>);"),
    ]);
    assert_eq!(files(&found), [["a/one.rs", "a/two.rs"]]);
}

#[test]
fn a_circle_through_a_parent_and_its_submodule_is_one_and_leaves_out_the_other_submodules() {
    let found = planted(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod one; mod two; pub struct A(crate::b::B); fn f(_: one::One, _: two::Two) {}"),
        ("a/one.rs", "use super::A; pub struct One(A);"),
        ("a/two.rs", "use super::A; pub struct Two(A);"),
        ("b.rs", "pub struct B(crate::a::one::One);"),
    ]);
    assert_eq!(files(&found), [["a/one.rs", "a.rs", "b.rs"]]);
}

#[test]
fn a_re_export_is_followed_to_the_definition() {
    let found = planted(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        // A use of c, not of b.
        ("a.rs", "use crate::b::Renamed; pub struct A(Renamed);"),
        ("b.rs", "pub use crate::c::C as Renamed; pub struct B(crate::a::A);"),
        ("c.rs", "pub struct C;"),
    ]);
    assert!(found.is_empty(), "{:?}", files(&found));
    let found = planted(&[
        ("lib.rs", "mod a; mod b; pub use b::*; pub use a::A;"),
        ("a.rs", "pub struct A(Option<Box<crate::B>>);"),
        ("b.rs", "pub struct B(Option<Box<crate::A>>);"),
    ]);
    assert_eq!(files(&found), [["a.rs", "b.rs"]]);
}

#[test]
fn a_module_under_another_name_leads_to_its_items_and_is_no_use_itself() {
    let found = planted(&[
        ROOT,
        ("a.rs", "use crate::b::{self as other}; pub struct A(other::B);"),
        ("b.rs", "use super::c as third; pub struct B(third::C);"),
        ("c.rs", "use crate::{a, b}; pub struct C(Option<Box<a::A>>);"),
    ]);
    assert_eq!(files(&found), [["a.rs", "b.rs", "c.rs"]]);
    let found = planted(&[
        ROOT,
        ("a.rs", "use crate::b::{self as other}; pub struct A;"),
        ("b.rs", "pub struct B(crate::a::A);"),
        ("c.rs", ""),
    ]);
    assert!(found.is_empty(), "{:?}", files(&found));
}

#[test]
fn names_in_macros_bodies_and_other_modules_of_the_file_count() {
    let found = planted(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn a() { println!(\"{}\", crate::b::inside::NUMBER) }"),
        (
            "b.rs",
            "pub mod inside { pub const NUMBER: u8 = 1; fn f() { use super::super::a; a::a() } }",
        ),
    ]);
    assert_eq!(files(&found), [["a.rs", "b.rs"]]);
}

#[test]
fn tests_and_other_crates_do_not_count() {
    let found = planted(&[
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod fixtures;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        (
            "b.rs",
            "use serde::a::A; pub struct B(A, std::a::X); #[cfg(test)] mod tests { use crate::a::A; }",
        ),
    ]);
    assert!(found.is_empty(), "{:?}", files(&found));
}

#[test]
fn a_file_by_path_is_a_file_like_others() {
    let found = planted(&[
        ("lib.rs", "#[cfg_attr(one, path = \"boards/../boards/one.rs\")] mod board; mod b;"),
        ("boards/one.rs", "mod clock; pub struct Board(crate::b::B);"),
        ("boards/clock.rs", ""),
        ("b.rs", "pub struct B(Option<Box<crate::board::Board>>);"),
    ]);
    assert_eq!(files(&found), [["b.rs", "boards/one.rs"]]);
}

#[test]
fn a_circle_that_is_not_listed_and_an_entry_that_is_none_are_complaints() {
    let circle = |files: &[&str]| Circle {
        files: files.iter().map(PathBuf::from).collect(),
        way: vec!["a.rs:1 b::B -> b.rs".to_owned()],
    };
    let found = [circle(&["a.rs", "b.rs"])];
    assert!(compare(&found, &[entry(&["b.rs", "a.rs"], "known")]).is_empty());
    let new = compare(&found, &[]);
    assert!(new[0].contains("does not list") && new[0].contains("a.rs:1 b::B"), "{new:?}");
    // A circle with an additional file is a different circle.
    assert_eq!(compare(&found, &[entry(&["a.rs", "b.rs", "c.rs"], "known")]).len(), 2);
    assert!(compare(&[], &[entry(&["a.rs", "b.rs"], "known")])[0].contains("no longer"));
    assert!(compare(&found, &[entry(&["a.rs", "b.rs"], " ")])[0].contains("no reason"));
}
