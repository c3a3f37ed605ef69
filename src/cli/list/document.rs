//! The JSON document of `looptune list`.

use serde_json::{Map, Value, json};

use super::axes::axis_rows;
use super::page::baseline_meaning;
use super::{Counted, Listed, named};
use crate::host::{Feature, FeatureSet, Host};
use crate::space::Space;
use crate::subject::{Baseline, Op};
use crate::template::{Axes, Family};

/// Everything that the page shows, as one document; `whole` as there.
pub(super) fn document(host: &Host, listed: &[Listed], whole: bool) -> Value {
    let mut document = Map::new();
    document.insert("schema".into(), json!(1));
    document.insert(
        "host".into(),
        json!({ "key": host.key, "cpu": host.cpu.brand, "features": words(host.usable) }),
    );
    if whole {
        let families: Vec<Value> = Family::embedded().iter().map(family).collect();
        let axes: Vec<Value> = axis_rows(host.usable)
            .into_iter()
            .map(|row| {
                json!({
                    "axis": row.axis.key,
                    "legal": row.values.len(),
                    "values": row.values,
                    "unsupported": row.refused,
                    "default": row.axis.default,
                })
            })
            .collect();
        let baselines: Vec<Value> = Baseline::ALL
            .iter()
            .map(|b| json!({ "name": b.word(), "meaning": baseline_meaning(*b) }))
            .collect();
        document.insert("families".into(), json!(families));
        document.insert("axes".into(), json!(axes));
        document.insert("baselines".into(), json!(baselines));
        document.insert("named_loops".into(), named::document());
    }
    let files: Vec<Value> = listed.iter().map(search_file).collect();
    document.insert("search_files".into(), json!(files));
    Value::Object(document)
}

fn family(family: &Family) -> Value {
    json!({
        "name": family.name,
        "why": family.why,
        "ops": ops(&family.axes.ops),
        "axes": axes(&family.axes),
    })
}

fn axes(axes: &Axes) -> Value {
    axes.listing().into_iter().map(|axis| (axis.key.to_string(), json!(axis.values))).collect()
}

fn search_file(listed: &Listed) -> Value {
    let regions: Vec<Value> = listed
        .file
        .regions
        .iter()
        .map(|r| {
            let space = Space::new(r.axes.iter().cloned());
            json!({ "why": r.why, "axes": space.regions().iter().map(axes).collect::<Vec<_>>() })
        })
        .collect();
    json!({
        "name": listed.file.name,
        "description": listed.file.description,
        "ops": ops(&listed.file.ops),
        "regions": regions,
        "spaces": listed.spaces.iter().map(space).collect::<Vec<_>>(),
    })
}

fn space(counted: &Counted) -> Value {
    let excluded: Vec<Value> = counted
        .here
        .excluded
        .iter()
        .map(|(rule, points)| json!({ "rule": rule.name, "reason": rule.reason, "points": points }))
        .collect();
    let unsupported: Vec<Value> = counted
        .here
        .unsupported
        .iter()
        .map(|(reason, variants)| json!({ "missing": words(reason.missing), "variants": variants }))
        .collect();
    json!({
        "op": counted.op.word(),
        "points": counted.here.points,
        "excluded": excluded,
        "repeated": counted.here.repeated,
        "legal": counted.here.legal,
        "distinct": counted.distinct,
        "unsupported": unsupported,
        "legal_here": counted.here.variants.len(),
        "distinct_here": counted.distinct_here,
    })
}

fn ops(ops: &[Op]) -> Vec<&'static str> {
    ops.iter().map(|op| op.word()).collect()
}

fn words(features: FeatureSet) -> Vec<&'static str> {
    features.iter().map(Feature::word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::count;
    use super::*;
    use crate::search::SearchFile;

    #[test]
    fn the_document_adds_up() {
        let host = Host::detect();
        let listed: Vec<Listed> =
            SearchFile::embedded().into_iter().map(|f| count(f, host.usable)).collect();
        let document = document(&host, &listed, true);
        assert_eq!(document["schema"], 1);
        assert_eq!(document["families"].as_array().unwrap().len(), Family::embedded().len());
        assert_eq!(document["axes"][0]["axis"], "class");
        let sum = |list: &Value, key: &str| -> u64 {
            list.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
        };
        for file in document["search_files"].as_array().unwrap() {
            for space in file["spaces"].as_array().unwrap() {
                let number = |key: &str| space[key].as_u64().unwrap();
                let excluded = sum(&space["excluded"], "points");
                assert_eq!(number("points"), excluded + number("repeated") + number("legal"));
                let unsupported = sum(&space["unsupported"], "variants");
                assert_eq!(number("legal"), number("legal_here") + unsupported);
                assert!(number("distinct") <= number("legal"));
                assert!(number("distinct_here") <= number("legal_here"));
                assert!(number("distinct_here") > 0);
            }
        }
    }
}
