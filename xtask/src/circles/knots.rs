//! Finds the circles among files that use each other.
//!
//! A module and its submodules may use each other: a submodule takes its parent's types through `super::`, and the
//! parent calls its submodules. That alone is not a circle. Files form a circle if each reaches all others by uses
//! and none of them is an ancestor module of all others. If one is, the search continues without it.

use crate::circles::uses::Uses;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// Some of a crate's files.
pub(crate) type Files<'a> = BTreeSet<&'a Path>;

/// The files of a crate, with their uses and their place in the module tree.
pub(crate) struct Graph<'a> {
    pub(crate) uses: &'a Uses,
    /// Whether the first file is the second one or a submodule of it.
    pub(crate) is_within: &'a dyn Fn(&Path, &Path) -> bool,
}

impl<'a> Graph<'a> {
    /// The circles among `files`.
    pub(crate) fn circles(&self, files: &Files<'a>) -> Vec<Files<'a>> {
        let mut found = Vec::new();
        for mut circle in self.connected(files) {
            let is_above = |top: &Path| circle.iter().all(|file| (self.is_within)(file, top));
            if let Some(top) = circle.iter().copied().find(|top| is_above(top)) {
                circle.remove(top);
                found.extend(self.circles(&circle));
            } else {
                found.push(self.without_hangers_on(circle));
            }
        }
        found
    }

    /// A shortest way round: from a file back to itself, through a file that is neither its parent nor its child.
    pub(crate) fn way_round(&self, circle: &Files<'a>) -> Vec<&'a Path> {
        let unrelated = |a: &Path, b: &Path| !(self.is_within)(a, b) && !(self.is_within)(b, a);
        let pairs = circle.iter().flat_map(|a| circle.iter().map(move |b| (*a, *b)));
        pairs
            .filter(|(a, b)| unrelated(a, b))
            .filter_map(|(a, b)| {
                let mut way = self.shortest(a, b, circle)?;
                way.extend(self.shortest(b, a, circle)?.into_iter().skip(1));
                Some(way)
            })
            .min_by_key(Vec::len)
            .unwrap_or_default()
    }

    /// The largest sets of two or more files in which each file reaches each other one.
    fn connected(&self, files: &Files<'a>) -> BTreeSet<Files<'a>> {
        let reached: BTreeMap<&Path, Files> =
            files.iter().map(|file| (*file, self.reach(file, files))).collect();
        let circles = files.iter().map(|file| {
            reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
        });
        circles.filter(|circle: &Files| circle.len() > 1).collect()
    }

    fn reach(&self, from: &'a Path, files: &Files<'a>) -> Files<'a> {
        let (mut found, mut due) = (Files::new(), vec![from]);
        while let Some(file) = due.pop() {
            due.extend(self.used_by(file, files).filter(|next| found.insert(*next)));
        }
        found
    }

    /// The circle without submodules that are in it only through their parent.
    fn without_hangers_on(&self, mut circle: Files<'a>) -> Files<'a> {
        loop {
            let hanger_on = circle.iter().copied().find(|file| {
                let users = circle.iter().copied().filter(|user| {
                    self.uses.get(*user).is_some_and(|used| used.contains_key(*file))
                });
                let neighbours: Files = self.used_by(file, &circle).chain(users).collect();
                neighbours.len() == 1 && neighbours.iter().all(|one| (self.is_within)(file, one))
            });
            match hanger_on {
                Some(file) => circle.remove(file),
                None => return circle,
            };
        }
    }

    fn shortest(&self, from: &'a Path, to: &'a Path, files: &Files<'a>) -> Option<Vec<&'a Path>> {
        let mut came_from = BTreeMap::new();
        let mut due = VecDeque::from([from]);
        while let Some(file) = due.pop_front() {
            for next in self.used_by(file, files) {
                if next != from && !came_from.contains_key(next) {
                    came_from.insert(next, file);
                    due.push_back(next);
                }
            }
        }
        let mut way = vec![to];
        while let Some(before) = way.last().and_then(|file| came_from.get(file)) {
            way.push(*before);
        }
        way.reverse();
        (way.first() == Some(&from)).then_some(way)
    }

    fn used_by(&self, file: &Path, files: &Files<'a>) -> impl Iterator<Item = &'a Path> {
        let used = self.uses.get(file).into_iter().flat_map(BTreeMap::keys);
        used.filter_map(|next| files.get(next.as_path()).copied())
    }
}
