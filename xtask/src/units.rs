//! The step `check::units` finds public `f64` fields of the analysis and the reports whose name or comment names a
//! unit. Such a field should have the unit's type, so that nanoseconds cannot be added to cycles. The types are in
//! `crates/analysis/src/units.rs`.
//!
//! A share, a spread, a ratio or a logarithm has no unit.

use crate::modules::{self, Crate};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Field, Lit, Meta, Type, Variant, Visibility};

const CRATES: [&str; 2] = ["crates/analysis", "crates/report"];

const UNITS: &str = "nanoseconds microseconds milliseconds seconds ns hertz hz khz mhz cycles bytes kilobytes \
                     megabytes";

/// A field with one of these words is a number without a unit.
const WITHOUT: &str = "share spread ratio logarithm logarithms";

/// Returns an error if there is such a field.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut complaints = Vec::new();
    for folder in CRATES {
        let krate = Crate::read(&root.join(folder).join("src/lib.rs"))?;
        for (module, parsed) in &krate.files {
            let file = &krate.modules[*module].file;
            let file = file.strip_prefix(root).unwrap_or(file).display();
            let words = |(line, words)| format!("{file}:{line}: {words}");
            complaints.extend(bare(parsed).into_iter().map(words));
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

/// The fields of one file, with line and error.
fn bare(file: &syn::File) -> Vec<(usize, String)> {
    let mut fields = Fields(Vec::new());
    fields.visit_file(file);
    fields.0
}

/// The line and the error of each field.
struct Fields(Vec<(usize, String)>);

impl Fields {
    fn look_at(&mut self, field: &Field) {
        let Some(name) = &field.ident else { return };
        let text = format!("{name} {}", comment(&field.attrs)).to_lowercase();
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let unit = words.clone().find(|word| UNITS.split_whitespace().any(|unit| unit == *word));
        let without = words.any(|word| WITHOUT.split_whitespace().any(|other| other == word));
        if let Some(unit) = unit.filter(|_| !without && is_number(&field.ty)) {
            let line = name.span().start().line;
            self.0.push((line, format!("{name} is an f64 in {unit}: give it the unit's type")));
        }
    }
}

impl<'a> Visit<'a> for Fields {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !modules::is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        let public = item.fields.iter().filter(|field| !matches!(field.vis, Visibility::Inherited));
        public.for_each(|field| self.look_at(field));
    }

    fn visit_variant(&mut self, variant: &'a Variant) {
        variant.fields.iter().for_each(|field| self.look_at(field));
    }
}

/// Whether a type contains an `f64`.
fn is_number(of: &Type) -> bool {
    struct Numbers(bool);
    impl Visit<'_> for Numbers {
        fn visit_ident(&mut self, ident: &syn::Ident) {
            self.0 |= ident == "f64";
        }
    }
    let mut numbers = Numbers(false);
    numbers.visit_type(of);
    numbers.0
}

/// The text of a field's comment.
fn comment(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| {
        let Meta::NameValue(pair) = &attribute.meta else { return None };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
        pair.path.is_ident("doc").then(|| text.value())
    };
    attributes.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        bare(&syn::parse_file(text).unwrap()).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_bare_number_with_a_unit_is_found_by_its_name_or_its_comment() {
        let fields = "struct A {\n/// Of it, in nanoseconds.\npub time: Option<(f64, f64)>,\npub clock_hz: f64 }";
        assert_eq!(lines(fields), [3, 4]);
        assert_eq!(lines("enum A { B {\n/// In Bytes.\nsize: Vec<f64> } }"), [3]);
    }

    #[test]
    fn numbers_without_a_unit_types_private_fields_and_tests_may_be() {
        let fields = "struct A {\n/// Spread in cycles.\npub a: f64, b_ns: f64, pub ns: Nanoseconds, pub c: f64 }";
        assert!(lines(fields).is_empty());
        assert!(lines("#[cfg(test)] mod tests { struct A { pub seconds: f64 } }").is_empty());
    }
}
