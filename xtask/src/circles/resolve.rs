//! Follows a path through modules, imports and re-exports to the file that defines the item.
//!
//! An item that appears in no file of the module, because a macro or `include!` defines it, counts as defined in the
//! module's own file.

use crate::modules::Crate;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a path leads to.
pub(crate) enum Target {
    Module(usize),
    /// An item that this file defines.
    Item(PathBuf),
}

/// Follows a path from inside `module`. `None` if it leads out of the crate.
pub(crate) fn resolve(krate: &Crate, module: usize, path: &[String]) -> Option<Target> {
    Search { krate, seen: BTreeSet::new() }.path(module, path)
}

struct Search<'a> {
    krate: &'a Crate,
    /// The names being resolved, with their modules, because a `use` may lead back to itself.
    seen: BTreeSet<(usize, String)>,
}

impl Search<'_> {
    fn path(&mut self, module: usize, path: &[String]) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => 0,
            "self" => module,
            "super" => self.krate.modules[module].parent?,
            name => match self.name(module, name, !rest.is_empty())? {
                Target::Module(found) => found,
                item => return Some(item),
            },
        };
        self.below(start, rest)
    }

    fn below(&mut self, module: usize, path: &[String]) -> Option<Target> {
        let Some((first, rest)) = path.split_first() else { return Some(Target::Module(module)) };
        if first == "super" {
            return self.below(self.krate.modules[module].parent?, rest);
        }
        match self.name(module, first, !rest.is_empty()) {
            Some(Target::Module(found)) => self.below(found, rest),
            Some(item) => Some(item),
            // Defined by a macro, or imported from another crate.
            None if self.is_foreign(module, first) => None,
            None => Some(Target::Item(self.krate.modules[module].file.clone())),
        }
    }

    /// What a name means in a module. If `more` names follow, it is a module rather than an item.
    fn name(&mut self, module: usize, name: &str, more: bool) -> Option<Target> {
        if !self.seen.insert((module, name.to_owned())) {
            return None;
        }
        let found = self.look_up(module, name, more);
        self.seen.remove(&(module, name.to_owned()));
        found
    }

    fn look_up(&mut self, module: usize, name: &str, more: bool) -> Option<Target> {
        let here = &self.krate.modules[module];
        let child = here.children.get(name).map(|child| Target::Module(*child));
        let item =
            here.items.iter().any(|item| item == name).then(|| Target::Item(here.file.clone()));
        let own = if more { child.or(item) } else { item.or(child) };
        if own.is_some() {
            return own;
        }
        let imports = here.imports.iter().filter(|(called, _)| called == name);
        for (_, path) in imports {
            if let Some(found) = self.path(module, path) {
                return Some(found);
            }
        }
        for path in &here.globs {
            if let Some(Target::Module(found)) = self.path(module, path)
                && let Some(found) = self.name(found, name, more)
            {
                return Some(found);
            }
        }
        None
    }

    /// Whether a name in a module comes from another crate.
    fn is_foreign(&self, module: usize, name: &str) -> bool {
        self.krate.modules[module].imports.iter().any(|(called, _)| called == name)
    }
}
