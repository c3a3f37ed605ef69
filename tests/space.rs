//! Rules, default spaces, neighbours, strata and search files, over whole spaces.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use looptune::encode::compile;
use looptune::host::{Feature, FeatureSet};
use looptune::search::{Budget, SearchFile, Strategy as SearchStrategy};
use looptune::space::{
    RULES, Space, check, check_all, explain, features_of, strata, stratified, supported,
};
use looptune::subject::{
    Align, BOUNCES, Class, Count, Direction, Head, Hint, Op, Order, Prefetch, Side, Store, Streams,
    Tail, Touch, Variant,
};
use looptune::template::{Axes, Source};
use proptest::prelude::*;
use proptest::sample::select;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn every_feature() -> FeatureSet {
    Feature::ALL.iter().copied().collect()
}

/// The cross product of the axes, with values among them that no id can name; of the rare axes,
/// one or two at a time leave their default.
fn raw_points() -> impl Iterator<Item = Variant> {
    let pf = |hint, distance, side| Some(Prefetch { hint, distance, side });
    let prefetches = [
        None,
        pf(Hint::T0, 256, Side::Src),
        pf(Hint::T0, 256, Side::Dst),
        pf(Hint::W, 256, Side::Src),
        pf(Hint::W, 256, Side::Dst),
        pf(Hint::T0, 100, Side::Dst),
        pf(Hint::T0, 8192, Side::Dst),
    ];
    let detours = [
        Detour::default(),
        Detour { touch: Touch::Rbw, ..Detour::default() },
        Detour { touch: Touch::SrcBlock, ..Detour::default() },
        Detour { bounce: Some(1000), ..Detour::default() },
        Detour { bounce: Some(4096), ..Detour::default() },
        Detour { bounce: Some(4096), touch: Touch::Rbw, ..Detour::default() },
        Detour { streams: Streams::Two, ..Detour::default() },
        Detour { direction: Direction::Backward, ..Detour::default() },
        Detour { direction: Direction::Backward, streams: Streams::Four, ..Detour::default() },
        Detour { fixed: Some(0), ..Detour::default() },
        Detour { fixed: Some(40), ..Detour::default() },
        Detour { fixed: Some(8192), ..Detour::default() },
        Detour { fixed: Some(8192), direction: Direction::Backward, ..Detour::default() },
    ];
    let axes = Axes {
        unrolls: vec![1, 5, 8, 32],
        aligns: vec![
            Align::NATURAL,
            Align { modulus: 64, skew: 0 },
            Align { modulus: 16, skew: 32 },
            Align { modulus: 8, skew: 0 },
        ],
        hints: vec![None],
        ..Axes::all().straight(&[])
    };
    let points: Vec<Variant> = Space::new([axes]).points().collect();
    let each = points.into_iter().enumerate();
    each.flat_map(move |(nth, v)| {
        // Prefetches have nothing to do with detours: either differs from its default.
        let prefetched = prefetches.map(|prefetch| Variant { prefetch, ..v });
        let detoured = detours.map(|detour| detour.on(v));
        // Of the many points with a detour a part, coprime to all lists.
        let some = if nth % 7 == 0 { detoured.len() } else { 0 };
        prefetched.into_iter().chain(detoured.into_iter().take(some))
    })
}

/// Values of the axes that few loops leave at another than their default.
#[derive(Clone, Copy)]
struct Detour {
    touch: Touch,
    bounce: Option<u16>,
    streams: Streams,
    direction: Direction,
    fixed: Option<u32>,
}

impl Default for Detour {
    fn default() -> Detour {
        Detour {
            touch: Touch::None,
            bounce: None,
            streams: Streams::One,
            direction: Direction::Forward,
            fixed: None,
        }
    }
}

impl Detour {
    fn on(self, v: Variant) -> Variant {
        let Detour { touch, bounce, streams, direction, fixed } = self;
        Variant { touch, bounce, streams, direction, fixed, ..v }
    }
}

#[test]
fn every_rule_excludes_something_that_no_other_rule_does() {
    let mut alone: HashSet<&str> = HashSet::new();
    for v in raw_points() {
        if let [rule] = check_all(&v)[..] {
            alone.insert(rule.name);
        }
    }
    for rule in RULES {
        assert!(alone.contains(rule.name), "{} is redundant", rule.name);
    }
}

#[test]
fn rules_have_distinct_names_and_reasons() {
    let names: HashSet<&str> = RULES.iter().map(|r| r.name).collect();
    let reasons: HashSet<&str> = RULES.iter().map(|r| r.reason).collect();
    assert_eq!((names.len(), reasons.len()), (RULES.len(), RULES.len()));
    for rule in RULES {
        assert!(!rule.reason.trim().is_empty() && !rule.reason.contains("  "), "{}", rule.name);
    }
}

#[test]
fn what_a_person_would_type_is_legal_or_says_why_not() {
    for id in [
        "zero/r32/u2/a16/nt",
        "zero/r64/u4/a32/nt/negidx",
        "zero/r64/u4/nt/head-none",
        "copy/mmx/u8/batch/nt",
        "copy/ymm/u16/batch/a64+32/pf-nta@512-both",
        "copy/xmm/evex/u32/batch",
        "copy/rep8/head-src",
        "zero/rep64/tail-bytes",
        "zero/rep32/tail-overlap/head-dst",
        "copy/zmm/u4/aligned/pf-w@256-dst",
        "zero/ymm/pf-w@64",
    ] {
        assert_eq!(check(&id.parse().unwrap()), Ok(()), "{id}");
    }
    for (id, rule) in [
        ("zero/zmm/vex", "encoding-fits-class"),
        ("zero/mmx/vex", "encoding-fits-class"),
        ("zero/r64/u4/batch", "batch-needs-loads"),
        ("copy/r64/u6/batch", "batch-registers"),
        ("copy/xmm/u32/batch", "batch-registers"),
        ("copy/ymm/batch", "batch-of-one"),
        ("copy/r64/aligned", "aligned-needs-vector"),
        ("copy/ymm/aligned/head-src", "aligned-needs-head"),
        ("zero/xmm/nt/head-none", "nt-needs-head"),
        ("copy/mmx/nt/head-src", "nt-needs-head"),
        ("zero/rep8/u2", "rep-unroll"),
        ("copy/rep64/nt", "rep-store"),
        ("zero/rep8/tail-overlap", "rep8-tail"),
        ("zero/r64/head-src", "source-head-needs-source"),
        ("zero/r64/pf-t0@64-both", "source-prefetch-needs-source"),
        ("copy/r64/pf-w@64", "write-hint-on-destination"),
    ] {
        assert_eq!(check(&id.parse().unwrap()).unwrap_err().rule, rule, "{id}");
    }
}

#[test]
fn ids_of_the_built_in_spaces_read_back() {
    for file in SearchFile::embedded() {
        for &op in &file.ops {
            let legal = file.space(op).legal();
            let ids: HashSet<String> = legal.iter().map(Variant::to_string).collect();
            assert_eq!(ids.len(), legal.len(), "{}: two variants share an id", file.name);
            for v in legal {
                assert_eq!(v.op, op);
                assert_eq!(check(&v), Ok(()));
                assert_eq!(v.to_string().parse(), Ok(v));
            }
        }
    }
}

#[test]
fn default_spaces_are_large_with_avx512_and_without() {
    let all = every_feature();
    let older = all.without(Feature::Avx512f).without(Feature::Avx512vl);
    for &op in Op::TUNED {
        let space = SearchFile::default_for(op).space(op);
        let census = space.census(&all);
        assert!((12_000..40_000).contains(&census.variants.len()), "{op}: {}", census.legal);
        assert_eq!(census.legal, census.variants.len() as u64);
        let product: u64 = space.regions().iter().map(Axes::product).sum();
        assert_eq!(census.points, product);
        let lost: u64 = census.excluded.iter().map(|(_, count)| count).sum();
        assert_eq!(census.points, census.legal + census.repeated + lost);
        let classes: BTreeSet<Class> = census.variants.iter().map(|v| v.class).collect();
        // What changes bits is no candidate.
        let legal = |v: Variant| check(&v).is_ok() && v.is_exact();
        let all = Class::ALL.iter().copied().filter(|c| legal(Variant::new(op, *c)));
        assert_eq!(classes, all.collect(), "{op}");
        assert!(census.variants.iter().all(|v| space.contains(v)));

        let census = space.census(&older);
        assert!(census.variants.len() > 5_000, "{op}: {}", census.variants.len());
        assert!(census.variants.iter().all(|v| supported(v, &older).is_ok()));
        let refused: u64 = census.unsupported.iter().map(|(_, count)| count).sum();
        assert_eq!(census.legal, census.variants.len() as u64 + refused);
        assert!(census.unsupported[0].0.to_string().contains("avx512f and avx512vl"));
        assert_eq!(census, space.census(&older), "the order is fixed");
    }
}

#[test]
fn the_alignment_sweep_has_every_skew() {
    let file = SearchFile::open("align").unwrap();
    for &op in Op::TUNED {
        let legal = file.space(op).legal();
        let skews: BTreeSet<u8> = legal.iter().map(|v| v.align.skew).collect();
        assert_eq!(skews, (0..64).collect());
    }
}

#[test]
fn stratified_subsets_hold_every_class_and_store() {
    for &op in Op::TUNED {
        let variants = SearchFile::default_for(op).space(op).legal();
        let kinds: BTreeSet<_> = variants.iter().map(|v| (v.class, v.store)).collect();
        assert!(kinds.iter().any(|(_, store)| *store == Store::Nt));
        for k in [1, 30, 300, 2000] {
            let mut rng = ChaCha8Rng::seed_from_u64(7);
            let subset = stratified(&variants, k, &mut rng);
            assert_eq!(subset.len(), k.max(kinds.len()));
            let represented: BTreeSet<_> = subset.iter().map(|v| (v.class, v.store)).collect();
            assert_eq!(represented, kinds);
            assert!(subset.iter().collect::<HashSet<_>>().len() == subset.len());
            let again = stratified(&variants, k, &mut ChaCha8Rng::seed_from_u64(7));
            assert_eq!(subset, again, "the same seed draws the same subset");
        }
        let strata_all: BTreeSet<_> = variants.iter().map(strata).collect();
        let subset = stratified(&variants, 300, &mut ChaCha8Rng::seed_from_u64(8));
        let strata_held: BTreeSet<_> = subset.iter().map(strata).collect();
        assert_eq!(strata_held, strata_all, "300 are enough for one of each stratum");
        let few = &variants[..5];
        assert_eq!(stratified(few, 300, &mut ChaCha8Rng::seed_from_u64(9)), few);
    }
}

fn any_point() -> impl Strategy<Value = Variant> {
    let a = Axes::all();
    let side = |op| select(if op != Op::Copy { vec![Side::Dst] } else { Side::ALL.to_vec() });
    let loop_axes = (
        select(a.ops),
        select(a.classes),
        select(a.encodings),
        select(a.unrolls),
        select(a.orders),
        select(a.aligns),
    );
    let other_axes = (
        select(a.stores),
        proptest::option::of((select(Hint::ALL), select(a.distances))),
        select(Count::ALL),
        select(Head::ALL),
        select(Tail::ALL),
    );
    let rare_axes = (
        select(a.touches),
        proptest::option::weighted(0.2, select(BOUNCES)),
        select(a.streams),
        select(a.directions),
        proptest::option::weighted(0.2, 1..10_000u32),
    );
    let all = (loop_axes, other_axes, rare_axes);
    all.prop_flat_map(move |(l, o, r)| (Just(l), Just(o), Just(r), side(l.0))).prop_map(
        |(l, o, r, side)| {
            let (op, class, encoding, unroll, order, align) = l;
            let (store, prefetch, count, head, tail) = o;
            let (touch, bounce, streams, direction, fixed) = r;
            let prefetch = prefetch.map(|(hint, distance)| Prefetch { hint, distance, side });
            Variant {
                op,
                class,
                encoding,
                unroll,
                order,
                align,
                store,
                prefetch,
                count,
                head,
                tail,
                touch,
                bounce,
                streams,
                direction,
                fixed,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn legal_points_of_the_whole_product_read_back(point in any_point()) {
        let explanation = explain(&point);
        prop_assert_eq!(explanation.is_none(), check(&point).is_ok());
        // An illegal point gives its legal neighbour instead, where there is one.
        let legal = match explanation {
            None => Some(point),
            Some(e) => {
                prop_assert_eq!(e.broken, check_all(&point));
                e.nearest
            }
        };
        if let Some(v) = legal {
            prop_assert_eq!(check(&v), Ok(()));
            prop_assert_eq!((v.op, v.class), (point.op, point.class));
            prop_assert_eq!(v.to_string().parse::<Variant>(), Ok(v));
            // Nothing lists every fixed size.
            let any_size = Variant { fixed: None, ..v };
            prop_assert!(Axes::all().contains(&any_size));
        }
    }
}

fn parse(text: &str) -> Result<SearchFile, String> {
    SearchFile::parse(&Source { file: "s.toml", text }, Path::new("")).map_err(|e| e.to_string())
}

const HEAD: &str = "description = \"d\"\nops = [\"zero\"]\nfamilies = [\"avx\", \"sse\"]\n";

#[test]
fn a_search_file_narrows_its_families() {
    let text = format!(
        "{HEAD}sizes = \"64,4k\"\nstates = [\"l1\", \"dram\"]\ndrives = [\"chained\"]\n\
         budget = \"3s\"\n[strategy]\nfinalists = 6\n[axes]\nunroll = [4, 2]\nhint = [\"none\"]\n\
         [[region]]\naxes.align = [\"a64\"]\n[[region]]\nfamilies = [\"sse\"]\naxes.align = [\"a64\", \"a1\"]"
    );
    let file = parse(&text).unwrap();
    assert_eq!(file.sizes, Some(vec![64, 4096]));
    assert_eq!(file.budget, Some(Budget::Seconds(3.0)));
    assert_eq!(file.strategy, SearchStrategy { finalists: 6, ..SearchStrategy::default() });
    let census = file.space(Op::Zero).census(&every_feature());
    assert!(census.variants.iter().all(|v| matches!(v.unroll, 2 | 4) && v.prefetch.is_none()));
    assert!(census.variants.iter().all(|v| v.class == Class::Xmm || v.align.modulus == 64));
    assert!(census.repeated > 0);
    let distinct: HashSet<&Variant> = census.variants.iter().collect();
    assert_eq!(distinct.len(), census.variants.len());
    assert_eq!(file.space(Op::Copy).census(&every_feature()).points, 0);
    assert_eq!(census.variants[0].order, Order::Pair);
}

#[test]
fn malformed_search_files_say_where_and_what_would_be_right() {
    let e = |text: &str| parse(text).unwrap_err();
    let has = |message: String, parts: &[&str]| {
        for part in parts {
            assert!(message.contains(part), "`{message}` lacks `{part}`");
        }
    };
    has(e(&format!("{HEAD}budgt = \"3s\"")), &["s.toml:4:", "`budgt`", "did you mean budget?"]);
    has(
        e(&format!("{HEAD}[[region]]\nwhy = \"x\"\n[region.axes]\nunrol = [1]")),
        &["s.toml:7:", "did you mean unroll?"],
    );
    has(
        e(&format!("{HEAD}[axes]\nstore = [\"ntt\"]")),
        &["s.toml:5: store:", "`ntt`", "plain aligned nt", "did you mean nt"],
    );
    has(e(&format!("{HEAD}[axes]\nclass = []")), &["s.toml:5: class:", "empty", "leave the key"]);
    has(
        e("description = \"d\"\nops = [\"zero\"]\nfamilies = [\"ssee\"]"),
        &["s.toml:3: families:", "`ssee`", "general mmx sse", "did you mean sse"],
    );
    has(
        e("description = \"d\"\nops = [\"fill\"]\nfamilies = [\"sse\"]"),
        &["s.toml:2: ops: `fill`"],
    );
    has(e("ops = [\"zero\"]\nfamilies = [\"sse\"]"), &["the key `description` is missing"]);
    has(e(&format!("{HEAD}sizes = \"4q\"")), &["s.toml:4: sizes:", "`4q`", "4k"]);
    has(e(&format!("{HEAD}sizes = 4096")), &["s.toml:4:", "text in quotes"]);
    has(e(&format!("{HEAD}budget = \"fast\"")), &["s.toml:4: budget:", "10s"]);
    has(e(&format!("{HEAD}states = [\"l4\"]")), &["s.toml:4: states:", "l1 l2 llc dram"]);
    has(e(&format!("{HEAD}states = [\"l1\", \"l1\"]")), &["said twice"]);
    has(e(&format!("{HEAD}states = [\"dram:l1\"]")), &["a zero has none"]);
    has(e(&format!("{HEAD}drives = [\"slow\"]")), &["throughput chained"]);
    has(
        e(&format!("{HEAD}[strategy]\nfinalists = 0")),
        &["s.toml:5: strategy.finalists:", "2 to 100"],
    );
    has(
        e(&format!("{HEAD}[[region]]\naxes.class = [\"rep8\"]")),
        &["s.toml:4: region:", "(class)", "other families"],
    );
    has(
        e(&format!("{HEAD}[[region]]\naxes.order = [\"batch\"]\naxes.hint = [\"none\"]")),
        &["s.toml:4: region:", "no point of it is legal", "batch-needs-loads"],
    );
    has(e(HEAD), &["s.toml:1: region:", "4000000", "align (113 values)", "distance (64 values)"]);
    has(e(&format!("{HEAD}[axes")), &["s.toml:4:"]);
    let missing = SearchFile::open("no/such.toml").unwrap_err().to_string();
    has(missing, &["no/such.toml: cannot be read"]);
}

#[test]
fn a_search_file_may_bring_its_own_family() {
    let dir = tempfile::tempdir().unwrap();
    let family = "name = \"mine\"\nwhy = \"a test\"\nops = [\"zero\"]\n[axes]\nclass = [\"r64\"]\n\
                  encoding = [\"legacy\"]\nstore = [\"plain\"]\n";
    std::fs::write(dir.path().join("mine.toml"), family).unwrap();
    let search = dir.path().join("s.toml");
    let text = "description = \"d\"\nops = [\"zero\"]\nfamilies = [\"mine.toml\"]\n\
                [axes]\nhint = [\"none\"]\n";
    std::fs::write(&search, text).unwrap();
    let legal = SearchFile::open(search.to_str().unwrap()).unwrap().space(Op::Zero).legal();
    assert!(legal.iter().all(|v| v.class == Class::R64 && v.store == Store::Plain));
    assert!(!legal.is_empty());
}

#[test]
fn legal_variants_compile_need_what_is_told_and_are_hardly_ever_the_same_code() {
    for file in SearchFile::embedded() {
        for &op in &file.ops {
            let legal = file.space(op).legal();
            let mut codes: HashSet<Vec<u8>> = HashSet::new();
            let mut of_any_size = 0;
            for v in &legal {
                let code = compile(v).unwrap_or_else(|e| panic!("{v}: {e}"));
                let told = features_of(v);
                if v.fixed.is_some() {
                    // What the size spares is told all the same; and where it leaves one turn or
                    // none, loops that differ in their turns are one.
                    assert!(code.features.minus(told).is_empty(), "{v}");
                    continue;
                }
                assert_eq!(told, code.features, "{v}");
                of_any_size += 1;
                codes.insert(code.bytes);
            }
            // The entry is at a multiple of 64, so equal bytes are equal loop addresses too.
            let all_but_few = codes.len() * 100 >= of_any_size * 97;
            assert!(all_but_few, "{} {op}: {} of {of_any_size}", file.name, codes.len());
        }
    }
}
