#[test]
fn count() {
    use looptune::{host::*, search::SearchFile};
    for f in SearchFile::embedded() {
        for op in &f.ops {
            let s = f.space(*op);
            let t = std::time::Instant::now();
            let all: FeatureSet = Feature::ALL.iter().copied().collect();
            let c = s.census(&all);
            println!(
                "{} {op}: {} points legal {} rep {} {:?}",
                f.name,
                c.points,
                c.legal,
                c.repeated,
                t.elapsed()
            );
            for (r, n) in &c.excluded {
                println!("   {} {n}", r.name);
            }
            let here = s.census(&all.without(Feature::Avx512f));
            println!("   here {} {:?}", here.variants.len(), here.unsupported);
        }
    }
}
