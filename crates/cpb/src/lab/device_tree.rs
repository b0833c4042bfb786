//! The device tree of a guest's machine: QEMU's own, with nodes and properties added.

use anyhow::{Context, Result, anyhow, bail};
use fdt::Fdt;
use fdt::node::FdtNode;
use toml::{Table, Value};
use vm_fdt::FdtWriter;

/// The blob `own` with what `added` says, below the root.
///
/// # Errors
/// Returns an error if the blob is no device tree, or if a value cannot be a property.
pub(super) fn with(own: &[u8], added: &Table) -> Result<Vec<u8>> {
    let tree = Fdt::new(own).map_err(|error| anyhow!("QEMU's device tree: {error}"))?;
    let root = tree.find_node("/").context("QEMU's device tree has no root")?;
    let mut writer = FdtWriter::new()?;
    node(&mut writer, Some(root), "", added)?;
    Ok(writer.finish()?)
}

/// Writes a node: properties first, then nodes.
fn node(
    writer: &mut FdtWriter,
    own: Option<FdtNode<'_, '_>>,
    name: &str,
    added: &Table,
) -> Result<()> {
    let begun = writer.begin_node(name)?;
    for property in own.iter().flat_map(|own| own.properties()) {
        if !added.contains_key(property.name) {
            writer.property(property.name, property.value)?;
        }
    }
    for (key, value) in added {
        if !value.is_table() {
            let bytes = bytes(value).with_context(|| format!("the device tree's {name}/{key}"))?;
            writer.property(key, &bytes)?;
        }
    }
    let mut written = Vec::new();
    for child in own.iter().flat_map(|own| own.children()) {
        let more = added.get(child.name).and_then(Value::as_table);
        node(writer, Some(child), child.name, more.unwrap_or(&Table::new()))?;
        written.push(child.name);
    }
    for (key, value) in added {
        if let Some(table) = value.as_table().filter(|_| !written.contains(&key.as_str())) {
            node(writer, None, key, table)?;
        }
    }
    Ok(writer.end_node(begun)?)
}

/// A property's bytes: cells are big-endian, and strings end with a zero byte (Devicetree Specification 0.4, 2.2.4).
fn bytes(value: &Value) -> Result<Vec<u8>> {
    Ok(match value {
        Value::Boolean(true) => Vec::new(),
        Value::Integer(number) => u32::try_from(*number)?.to_be_bytes().into(),
        Value::String(text) => [text.as_bytes(), &[0]].concat(),
        Value::Array(all) => all.iter().map(bytes).collect::<Result<Vec<_>>>()?.concat(),
        other => bail!("a {} is no property", other.type_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with a property, and a node with a property.
    fn own() -> Vec<u8> {
        let mut writer = FdtWriter::new().expect("a writer");
        let root = writer.begin_node("").expect("a root");
        writer.property_u32("#address-cells", 2).expect("a property");
        let pmu = writer.begin_node("pmu").expect("a node");
        writer.property_string("compatible", "none").expect("a property");
        writer.property_u32("phandle", 7).expect("a property");
        writer.end_node(pmu).expect("an end");
        writer.end_node(root).expect("an end");
        writer.finish().expect("a tree")
    }

    #[test]
    fn nodes_are_added_and_those_that_are_there_get_properties() {
        let added = "
            [pmu]
            compatible = [\"arm,cortex-a15-pmu\", \"arm,pmu\"]
            interrupts = [1, 7, 4]
            [\"crypto@10000000\"]
            dma-coherent = true
            [\"crypto@10000000\".\"jr@1000\"]
            reg = [0x1000, 0x1000]
        ";
        let blob = with(&own(), &added.parse().expect("TOML")).expect("a tree");
        let tree = Fdt::new(&blob).expect("a tree");
        let property = |path: &str, name: &str| {
            let node = tree.find_node(path).expect("a node");
            node.property(name).map(|property| property.value.to_vec())
        };
        assert_eq!(property("/", "#address-cells"), Some(vec![0, 0, 0, 2]));
        assert_eq!(property("/pmu", "phandle"), Some(vec![0, 0, 0, 7]));
        let strings = b"arm,cortex-a15-pmu\0arm,pmu\0".to_vec();
        assert_eq!(property("/pmu", "compatible"), Some(strings));
        let cells = [1_u32, 7, 4].map(u32::to_be_bytes).concat();
        assert_eq!(property("/pmu", "interrupts"), Some(cells));
        assert_eq!(property("/crypto@10000000", "dma-coherent"), Some(vec![]));
        assert_eq!(property("/crypto@10000000/jr@1000", "reg").map(|cells| cells.len()), Some(8));
    }

    #[test]
    fn what_cannot_be_a_property_is_named() {
        for text in ["[node]\nreg = -1", "[node]\nreg = 1.5", "[node]\nreg = false"] {
            let error = with(&own(), &text.parse().expect("TOML")).expect_err("no property");
            assert!(format!("{error:#}").starts_with("the device tree's node/reg: "), "{error:#}");
        }
        assert!(with(b"no tree", &Table::new()).is_err());
    }
}
