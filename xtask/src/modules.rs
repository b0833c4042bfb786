//! The modules of one crate: the file of each, the items that it defines, and its imports.

use crate::tree;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token, UseTree};

/// A crate's modules; the first is its root.
pub(crate) struct Crate {
    pub(crate) modules: Vec<Module>,
    /// Every file, parsed, with the index of its module.
    pub(crate) files: Vec<(usize, syn::File)>,
}

/// A module, in its own file or in its parent's.
pub(crate) struct Module {
    pub(crate) file: PathBuf,
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// The items that it defines, except modules.
    pub(crate) items: Vec<String>,
    /// The types and traits among them.
    pub(crate) types: Vec<String>,
    /// The names that its `use`s introduce, with the paths that they stand for.
    pub(crate) imports: Vec<(String, Vec<String>)>,
    /// The paths of `use path::*`.
    pub(crate) globs: Vec<Vec<String>>,
}

/// The root files of libraries and programs, which rustc is called with.
pub(crate) fn roots(root: &Path) -> Vec<PathBuf> {
    let mut folders = tree::entries(&root.join("crates"));
    folders.extend(["xtask", "firmware", "fuzz"].map(|name| root.join(name)));
    let mut found = Vec::new();
    for source in folders.iter().map(|folder| folder.join("src")) {
        found.extend(["lib.rs", "main.rs"].map(|name| source.join(name)));
        found.extend(tree::files(&source.join("bin")));
    }
    found.retain(|file| file.is_file());
    found
}

impl Crate {
    /// Reads the crate whose root is this file.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let mut read = Self { modules: Vec::new(), files: Vec::new() };
        let folder = root.parent().unwrap_or(root);
        read.file(root.to_path_buf(), folder, None)?;
        Ok(read)
    }

    /// Whether a file is `above`, or a submodule of it. With `#[path]`, one file may be several modules.
    pub(crate) fn is_within(&self, file: &Path, above: &Path) -> bool {
        let modules = self.files.iter().map(|(module, _)| *module);
        let (of_file, of_above): (Vec<_>, Vec<_>) = (
            modules.clone().filter(|module| self.modules[*module].file == file).collect(),
            modules.filter(|module| self.modules[*module].file == above).collect(),
        );
        of_file.iter().any(|module| of_above.iter().any(|above| self.is_below(*module, *above)))
    }

    fn is_below(&self, module: usize, ancestor: usize) -> bool {
        let mut at = Some(module);
        while let Some(here) = at {
            if here == ancestor {
                return true;
            }
            at = self.modules[here].parent;
        }
        false
    }

    /// Reads the file of one module; the files of its submodules are below `folder`.
    fn file(
        &mut self,
        file: PathBuf,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize, String> {
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| {
            format!("{}:{}: {error}", file.display(), error.span().start().line)
        })?;
        let module = self.module(file, parent);
        self.items(module, &parsed.items, folder)?;
        self.files.push((module, parsed));
        Ok(module)
    }

    fn module(&mut self, file: PathBuf, parent: Option<usize>) -> usize {
        self.modules.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            items: Vec::new(),
            types: Vec::new(),
            imports: Vec::new(),
            globs: Vec::new(),
        });
        self.modules.len() - 1
    }

    fn items(&mut self, module: usize, items: &[Item], folder: &Path) -> Result<(), String> {
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(submodule) => {
                    self.submodule(module, submodule, folder)?;
                }
                Item::Use(import) => {
                    for leaf in leaves(&import.tree) {
                        let module = &mut self.modules[module];
                        match leaf {
                            Leaf::Name(name, path) => module.imports.push((name, path)),
                            Leaf::Glob(path) => module.globs.push(path),
                        }
                    }
                }
                item => {
                    let module = &mut self.modules[module];
                    if is_type(item) {
                        module.types.extend(names(item));
                    }
                    module.items.extend(names(item));
                }
            }
        }
        Ok(())
    }

    fn submodule(
        &mut self,
        module: usize,
        submodule: &syn::ItemMod,
        folder: &Path,
    ) -> Result<(), String> {
        let name = plain(&submodule.ident);
        let below = folder.join(&name);
        let own_file = self.modules[module].file.clone();
        let mut children = Vec::new();
        if let Some((_, items)) = &submodule.content {
            let child = self.module(own_file, Some(module));
            self.items(child, items, &below)?;
            children.push(child);
        } else {
            let paths = path_attributes(&submodule.attrs);
            if paths.is_empty() {
                children.push(self.file(file_of(folder, &name), &below, Some(module))?);
            }
            for path in paths {
                // As in rustc: relative to the folder of the file with the attribute; its submodules are in the same
                // folder.
                let file = tidy(&own_file.with_file_name(path));
                let beside = file.parent().unwrap_or(folder).to_path_buf();
                children.push(self.file(file, &beside, Some(module))?);
            }
        }
        // If features choose between several files, the first one represents all.
        self.modules[module].children.entry(name).or_insert(children[0]);
        Ok(())
    }
}

/// A path without `folder/..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            tidy.pop();
        } else {
            tidy.push(part);
        }
    }
    tidy
}

/// The file of a module, in one of the two places where Rust looks for it.
fn file_of(folder: &Path, name: &str) -> PathBuf {
    let flat = folder.join(format!("{name}.rs"));
    if flat.is_file() { flat } else { folder.join(name).join("mod.rs") }
}

/// One name or glob of a `use`.
pub(crate) enum Leaf {
    Name(String, Vec<String>),
    Glob(Vec<String>),
}

/// The single names and globs of a `use`.
pub(crate) fn leaves(tree: &UseTree) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(tree, &[], &mut found);
    found
}

fn collect(tree: &UseTree, before: &[String], found: &mut Vec<Leaf>) {
    let with = |ident: &syn::Ident| [before, &[plain(ident)]].concat();
    match tree {
        UseTree::Path(path) => collect(&path.tree, &with(&path.ident), found),
        // `a::{self}` is `a`.
        UseTree::Name(name) if name.ident == "self" => {
            let called = before.last().cloned().unwrap_or_default();
            found.push(Leaf::Name(called, before.to_vec()));
        }
        UseTree::Name(name) => found.push(Leaf::Name(plain(&name.ident), with(&name.ident))),
        UseTree::Rename(name) if name.ident == "self" => {
            found.push(Leaf::Name(plain(&name.rename), before.to_vec()));
        }
        UseTree::Rename(name) => found.push(Leaf::Name(plain(&name.rename), with(&name.ident))),
        UseTree::Glob(_) => found.push(Leaf::Glob(before.to_vec())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, before, found)),
    }
}

/// A name without `r#`.
pub(crate) fn plain(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

/// Whether an item is compiled for tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let mut test = false;
        // Also true for `all(test, unix)`. The contents of `any` and `not` are compiled in other cases as well.
        let _ = attribute.parse_nested_meta(|meta| {
            test |= meta.path.is_ident("test");
            if meta.path.is_ident("all") {
                meta.parse_nested_meta(|inner| {
                    test |= inner.path.is_ident("test");
                    Ok(())
                })?;
            }
            Ok(())
        });
        test
    })
}

/// The files of `#[path = "..."]` and `#[cfg_attr(..., path = "...")]`.
fn path_attributes(attributes: &[Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("path") {
            found.extend(attribute.meta.require_name_value().ok().and_then(text));
        } else if attribute.path().is_ident("cfg_attr") {
            let metas = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            let paths = metas.into_iter().flatten().filter(|meta| meta.path().is_ident("path"));
            found.extend(paths.filter_map(|meta| meta.require_name_value().ok().and_then(text)));
        }
    }
    found
}

fn text(pair: &syn::MetaNameValue) -> Option<String> {
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The names that an item defines.
fn names(item: &Item) -> Vec<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        // `macro_rules! name`.
        Item::Macro(item) => return item.ident.iter().map(plain).collect(),
        Item::ForeignMod(foreign) => {
            return foreign
                .items
                .iter()
                .filter_map(|item| match item {
                    syn::ForeignItem::Fn(item) => Some(plain(&item.sig.ident)),
                    syn::ForeignItem::Static(item) => Some(plain(&item.ident)),
                    syn::ForeignItem::Type(item) => Some(plain(&item.ident)),
                    _ => None,
                })
                .collect();
        }
        _ => return Vec::new(),
    };
    vec![plain(name)]
}

fn is_type(item: &Item) -> bool {
    matches!(
        item,
        Item::Enum(_) | Item::Struct(_) | Item::Trait(_) | Item::Type(_) | Item::Union(_)
    )
}

/// An item's attributes.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
