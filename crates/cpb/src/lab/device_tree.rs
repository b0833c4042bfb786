//! The device tree of a guest's machine: QEMU's own, with nodes and properties added.

use anyhow::{Context, Result, bail};
use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use toml::{Table, Value};

/// The blob `own` with what `added` says, below the root.
///
/// # Errors
/// Returns an error if the blob is no device tree, or if a value cannot be a property.
pub(super) fn with(own: &[u8], added: &Table) -> Result<Vec<u8>> {
    let mut tree = DeviceTree::from_fdt(&Fdt::new(own).context("QEMU's device tree")?);
    add(&mut tree.root, added)?;
    Ok(tree.to_dtb())
}

/// Adds properties and nodes to `node`. Those that are there are replaced, or added to.
fn add(node: &mut DeviceTreeNode, added: &Table) -> Result<()> {
    for (key, value) in added {
        if let Some(table) = value.as_table() {
            if node.child_mut(key).is_none() {
                node.add_child(DeviceTreeNode::new(key)?);
            }
            let child = node.child_mut(key).context("it was added")?;
            add(child, table).with_context(|| format!("the device tree's {key}"))?;
        } else {
            let bytes = bytes(value).with_context(|| key.clone())?;
            node.add_property(DeviceTreeProperty::new(key, bytes)?);
        }
    }
    Ok(())
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
    use dtoolkit::{Node, Property};

    /// A root with a property, and a node with a property.
    fn own() -> Vec<u8> {
        let mut tree = DeviceTree::new();
        let added = "\"#address-cells\" = 2\n[pmu]\ncompatible = \"none\"\nphandle = 7";
        add(&mut tree.root, &added.parse().expect("TOML")).expect("properties");
        tree.to_dtb()
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
            node.property(name).map(|property| property.value().to_vec())
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
            assert!(format!("{error:#}").starts_with("the device tree's node: reg: "), "{error:#}");
        }
        assert!(with(b"no tree", &Table::new()).is_err());
    }
}
