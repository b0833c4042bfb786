//! Which files of a crate use each other: each `use` and each path of two or more names is followed to the file that
//! defines the item (`resolve.rs`).
//!
//! `mod child;` is not a use, and neither is a path that ends at a module, because an item that is taken from the
//! module has a path as well. Paths in the arguments of a macro count. Code under `#[cfg(test)]` does not.

use crate::circles::resolve::{Target, resolve};
use crate::modules::{self, Crate, Leaf};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::PathBuf;
use syn::visit::{self, Visit};

/// The first place where one file uses another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) path: String,
}

/// Uses by the using file, then by the used file.
pub(crate) type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, Place>>;

/// Every use between two files of a crate.
pub(crate) fn of(krate: &Crate) -> Uses {
    let mut uses = Uses::new();
    for (module, file) in &krate.files {
        let mut reader = Reader { krate, module: *module, local: Vec::new(), uses: &mut uses };
        reader.visit_file(file);
    }
    uses
}

struct Reader<'a> {
    krate: &'a Crate,
    module: usize,
    /// The imports of the enclosing blocks, as in [`modules::Module`].
    local: Vec<(String, Vec<String>)>,
    uses: &'a mut Uses,
}

impl Reader<'_> {
    fn record(&mut self, path: &[String], line: usize) {
        let local = self.local.iter().rev().find(|(called, _)| path.first() == Some(called));
        let whole = match local {
            Some((_, before)) => [before, &path[1..]].concat(),
            None => path.to_vec(),
        };
        if let Some(Target::Item(file)) = resolve(self.krate, self.module, &whole) {
            self.add(file, path.join("::"), line);
        }
    }

    fn add(&mut self, used: PathBuf, path: String, line: usize) {
        let user = &self.krate.modules[self.module].file;
        if *user != used {
            let places = self.uses.entry(user.clone()).or_default();
            places.entry(used).or_insert(Place { line, path });
        }
    }

    /// Finds paths in the tokens of a macro: `a::b`, as long as names and `::` alternate.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut colons, mut line) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end(&mut path, line);
                        line = ident.span().start().line;
                    }
                    path.push(modules::plain(&ident));
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1
                }
                other => {
                    self.end(&mut path, line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.end(&mut path, line);
    }

    fn end(&mut self, path: &mut Vec<String>, line: usize) {
        if path.len() > 1 {
            self.record(path, line);
        }
        path.clear();
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !modules::is_test(modules::attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !modules::is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let name = modules::plain(&item.ident);
        let inside = self.krate.modules[self.module].children.get(&name).copied();
        if let (Some((_, items)), Some(inside)) = (&item.content, inside) {
            let outside = std::mem::replace(&mut self.module, inside);
            items.iter().for_each(|item| self.visit_item(item));
            self.module = outside;
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let outside = self.local.len();
        for statement in &block.stmts {
            if let syn::Stmt::Item(syn::Item::Use(item)) = statement {
                for leaf in modules::leaves(&item.tree) {
                    if let Leaf::Name(name, path) = leaf {
                        self.local.push((name, path));
                    }
                }
            }
        }
        visit::visit_block(self, block);
        self.local.truncate(outside);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let line = item.use_token.span.start().line;
        for leaf in modules::leaves(&item.tree) {
            match leaf {
                Leaf::Name(_, path) => self.record(&path, line),
                Leaf::Glob(path) => {
                    if let Some(Target::Module(module)) = resolve(self.krate, self.module, &path) {
                        let file = self.krate.modules[module].file.clone();
                        self.add(file, format!("{}::*", path.join("::")), line);
                    }
                }
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|s| modules::plain(&s.ident)).collect();
        // A single name is defined here, or was imported by a `use`, which counts as a use itself.
        if let (true, Some(first)) = (names.len() > 1, path.segments.first()) {
            self.record(&names, first.ident.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.tokens(invocation.tokens.clone());
        visit::visit_macro(self, invocation);
    }
}
