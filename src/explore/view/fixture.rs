//! Screens to draw in tests.

use super::super::screen::*;

/// A loop at 56 modulo 64, with what stands around it.
const CODE: &str = "\
0000 f30f1efa endbr64
0004 4889f8 movq %rdi, %rax
0007 4881fe80000000 cmpq $128, %rsi
000e 0f8770000000 ja .Lsetup
0014 c5f9efc0 vpxor %xmm0, %xmm0, %xmm0
.Lsmall:
0041 4883fe10 cmpq $16, %rsi
0045 7332 jae .Lsmall_16
0070 48890f movq %rcx, (%rdi)
0073 48894c37f8 movq %rcx, -8(%rdi,%rsi)
0078 c3 ret
.Lsmall_16:
0079 c5fa7f07 vmovdqu %xmm0, (%rdi)
007d c5fa7f4437f0 vmovdqu %xmm0, -16(%rdi,%rsi)
0083 c3 ret
.Lsetup:
0084 488d743780 leaq -128(%rdi,%rsi), %rsi
00a4 660f1f840000000000 nopw 0(%rax,%rax)
00ad 660f1f840000000000 nopw 0(%rax,%rax)
00b6 6690 xchg %ax, %ax
.Lloop: loop
00b8 c5fe7f07 vmovdqu %ymm0, (%rdi) loop
00bc c5fe7f4720 vmovdqu %ymm0, 32(%rdi) loop
00c1 c5fe7f4740 vmovdqu %ymm0, 64(%rdi) loop
00c6 c5fe7f4760 vmovdqu %ymm0, 96(%rdi) loop
00cb 4883ef80 subq $-128, %rdi loop
00cf 4839f7 cmpq %rsi, %rdi loop
00d2 72e4 jb .Lloop loop
.Ltail:
00d4 4889f7 movq %rsi, %rdi
00d7 c5fe7f07 vmovdqu %ymm0, (%rdi)
00db c5fe7f4720 vmovdqu %ymm0, 32(%rdi)
00e0 c5fe7f4740 vmovdqu %ymm0, 64(%rdi)
00e5 c5fe7f4760 vmovdqu %ymm0, 96(%rdi)
00ea c3 ret";

fn code_line(text: &str) -> ListingLine {
    let (text, in_loop) = text.strip_suffix(" loop").map_or((text, false), |text| (text, true));
    let mut words = text.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    if text.starts_with('.') {
        return ListingLine { text: text.to_string(), in_loop, ..ListingLine::default() };
    }
    let (offset, hex) = (word(), word());
    let bytes = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    ListingLine {
        offset: u32::from_str_radix(offset, 16).unwrap(),
        bytes: bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect(),
        text: word().to_string(),
        in_loop,
    }
}

fn listing() -> Listing {
    let lines: Vec<ListingLine> = CODE.lines().map(code_line).collect();
    Listing {
        id: "zero/ymm/u4/a64+56".to_string(),
        loop_line: lines.iter().position(|line| line.in_loop),
        lines,
        scroll: 0,
        absent: String::new(),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_string).collect()
}

/// Half measured: every kind of cell, pin and cursor apart from the best.
fn map() -> HeatMap {
    let x = Ticks {
        key: "align".to_string(),
        values: words("a1 a16 a32 a64 a64+8 a64+16 a64+24 a64+32 a64+40 a64+48 a64+56"),
    };
    let y = Ticks { key: "unroll".to_string(), values: words("1 2 3 4 6 8 12 16 32") };
    let cell = |row: usize, column: usize| {
        let far = (row as f64 - 3.4).abs();
        let skew = f64::from([9u8, 4, 1, 0, 2, 5, 3, 0, 6, 8, 12][column]);
        let slower = 1.0 + (skew * 1.3 + far * far * 4.0) / 100.0;
        match (row, column) {
            (0, 0) => Heat::Measured { slower: 2.6, fine: false },
            (1, 9) | (2, 10) => Heat::Failed,
            (8, 3..) => Heat::Illegal,
            (7, 10) => Heat::Unsupported,
            (6, 8) => Heat::Measuring,
            (6, 9..) | (5, 10) | (0, 8..) => Heat::Unmeasured,
            (3, 3) => Heat::Measured { slower: 1.0, fine: true },
            _ => Heat::Measured { slower, fine: row < 6 && column < 8 },
        }
    };
    HeatMap {
        cells: (0..9).flat_map(|row| (0..11).map(move |column| cell(row, column))).collect(),
        x,
        y,
        cursor: (10, 3),
        pin: Some((7, 4)),
        best: Some((3, 3)),
    }
}

fn axes() -> Vec<AxisLine> {
    let axes = "class ymm,encoding vex,unroll 4,order pair,align a64+56,store plain,hint none,\
                distance,side,count cmp,head none,tail overlap";
    axes.split(',')
        .map(|axis| {
            let mut words = axis.split(' ');
            let key = words.next().unwrap_or_default().to_string();
            let role = match key.as_str() {
                "align" => AxisRole::X,
                "unroll" => AxisRole::Y,
                _ => AxisRole::Fixed,
            };
            let selected = key == "class";
            AxisLine { value: words.next().map(str::to_string), role, selected, key }
        })
        .collect()
}

fn figures() -> Figures {
    let ratio = |name: &str, ratio: f64, verdict: &str| Ratio {
        name: name.to_string(),
        ratio,
        ci: (ratio - 0.008, ratio + 0.006),
        verdict: verdict.to_string(),
    };
    Figures {
        id: "zero/ymm/u4/a64+56".to_string(),
        samples: 1204,
        ns: Some((24.612, 24.53, 24.71)),
        bytes_per_cycle: Some(54.83),
        share_of_limit: Some(0.857),
        clock_ghz: Some((3.062, 3.051, 3.071)),
        baseline: Some(ratio("libc", 1.104, "faster")),
        pin: Some(ratio("zero/ymm/u6/a64+32", 0.952, "slower")),
        histogram: Some(Histogram {
            range: (24.1, 25.9),
            bins: vec![
                1, 3, 9, 30, 80, 160, 210, 190, 140, 100, 84, 60, 44, 30, 21, 14, 9, 6, 4, 3, 2, 1,
                0, 1,
            ],
            above: 3,
        }),
        note: None,
    }
}

/// Everything that a map's screen can have.
pub(super) fn screen() -> Screen {
    Screen {
        title: Title {
            op: "zero".to_string(),
            size: "4 KiB".to_string(),
            state: "l1".to_string(),
            drive: "throughput".to_string(),
            baseline: "libc".to_string(),
            source: "measuring".to_string(),
            done: (78, 91),
        },
        map: map(),
        axes: axes(),
        listing: listing(),
        figures: figures(),
        curve: None,
        overlay: None,
        status: Status {
            kind: StatusKind::Hint,
            text:
                "arrows move  x y axes  +/− value  s state  o op  [ ] size  c curve  ? help  q quit"
                    .to_string(),
        },
    }
}

/// The cursor on a loop that does not exist.
pub(super) fn illegal() -> Screen {
    let mut screen = screen();
    screen.map.cursor = (6, 8);
    screen.listing = Listing {
        id: "zero/ymm/u32/a64+24".to_string(),
        absent: "no such loop: 32 registers are more than ymm has".to_string(),
        ..Listing::default()
    };
    screen.figures = Figures {
        id: "zero/ymm/u32/a64+24".to_string(),
        note: Some("no such loop".to_string()),
        ..Figures::default()
    };
    screen.status = Status {
        kind: StatusKind::Notice,
        text: "unroll 32: more registers than ymm has (16)".to_string(),
    };
    screen
}

/// Nothing has a time yet.
pub(super) fn fresh() -> Screen {
    let mut screen = screen();
    screen.title.done = (0, 91);
    for cell in &mut screen.map.cells {
        if matches!(cell, Heat::Measured { .. } | Heat::Failed) {
            *cell = Heat::Unmeasured;
        }
    }
    (screen.map.best, screen.map.pin) = (None, None);
    screen.figures = Figures { id: screen.figures.id, ..Figures::default() };
    screen
}

/// Nothing works.
pub(super) fn failed() -> Screen {
    let mut screen = fresh();
    screen.title.source = "paused".to_string();
    screen.map.cells.fill(Heat::Failed);
    screen.figures.note = Some("crashed: illegal instruction at 00b8".to_string());
    screen.status = Status {
        kind: StatusKind::Error,
        text: "the worker crashed three times; r tries again".to_string(),
    };
    screen
}

/// Times by the address of the loop, against two baselines.
pub(super) fn skew_curve() -> Screen {
    let mut screen = screen();
    let times = [21.4, 21.5, 22.1, 23.4, 21.5, 22.6, 23.8, 24.6];
    let point = |index: usize, y: f64, half: f64| CurvePoint {
        x: index as f64,
        label: screen.map.x.values.get(index + 3).cloned().unwrap_or_default(),
        y: (y, y - half, y + half * 1.4),
    };
    let series = |name: &str, points: Vec<CurvePoint>| Series { name: name.to_string(), points };
    let flat = |y: f64| (0..8).map(|i| point(i, y, 0.05)).collect::<Vec<_>>();
    let own = times.iter().enumerate().map(|(i, y)| point(i, *y, 0.1 + 0.06 * i as f64));
    screen.curve = Some(Curve {
        title: "align of zero/ymm/u4".to_string(),
        x: "align".to_string(),
        y: "ns a call".to_string(),
        logarithmic: false,
        series: vec![
            series("zero/ymm/u4", own.collect()),
            series("libc", flat(25.6)),
            series("rep", flat(23.2)),
        ],
        cursor: Some(7),
    });
    screen
}

/// Times by size, over four decades.
pub(super) fn size_curve() -> Screen {
    let mut screen = screen();
    let sizes = (5..=22).map(|power| 1u64 << power);
    let points = |start: f64, rate: f64| -> Vec<CurvePoint> {
        let point = |size: u64| {
            let ns = start + size as f64 / rate;
            CurvePoint {
                x: size as f64,
                label: crate::units::human_size(size),
                y: (ns, ns * 0.98, ns * 1.03),
            }
        };
        sizes.clone().map(point).collect()
    };
    let series = |name: &str, points: Vec<CurvePoint>| Series { name: name.to_string(), points };
    screen.curve = Some(Curve {
        title: "size of zero/ymm/u4/a64".to_string(),
        x: "size".to_string(),
        y: "ns a call".to_string(),
        logarithmic: true,
        series: vec![
            series("zero/ymm/u4/a64", points(1.2, 190.0)),
            series("libc", points(2.4, 150.0)),
            series("rep", points(11.0, 120.0)),
        ],
        cursor: Some(7),
    });
    screen
}

/// Help in groups, one of them long.
pub(super) fn help() -> Screen {
    let group = |name: &str, keys: &[(&str, &str)]| {
        let keys = keys.iter().map(|(key, what)| (key.to_string(), what.to_string())).collect();
        (name.to_string(), keys)
    };
    let look = [
        ("arrows h j k l", "move; the mouse does too"),
        ("f / F", "to the fastest of the map / of this row"),
        ("/", "jump to a loop by its id"),
        ("PgUp PgDn", "scroll the listing"),
        ("c", "curve of one axis; Tab or x: another, or the size"),
    ];
    let choose = [
        ("x  y", "choose the axis of columns, of rows"),
        ("Tab  + -", "select another axis, change its value"),
        ("s  d  o", "next state, drive, op"),
        ("[  ]", "smaller, larger size"),
        ("b  p", "compare with a baseline; pin this loop to compare"),
    ];
    let keep = [
        ("e", "export this loop as assembly (.S)"),
        ("w", "write what was measured to the results"),
        ("r / R", "measure this loop / all of them again"),
        ("?  q", "this help; quit (Ctrl-C too)"),
    ];
    let axes = [
        ("class", "registers that move the bytes"),
        ("encoding", "how vector instructions are encoded"),
        ("unroll", "registers an iteration moves"),
        ("order", "order of loads and stores in an iteration"),
        ("align", "address of the loop top: a modulus and a skew"),
        ("store", "store instruction of the loop"),
        ("hint", "prefetch instruction of the loop"),
        ("distance", "bytes that the prefetch runs ahead"),
        ("side", "pointer that the prefetch runs ahead of"),
        ("count", "how the loop counts"),
        ("head", "pointer that is aligned before the loop"),
        ("tail", "how the bytes after the loop are done"),
    ];
    let groups = vec![
        group("look", &look),
        group("choose", &choose),
        group("keep", &keep),
        group("axes", &axes),
    ];
    Screen { overlay: Some(Overlay::Help(groups)), ..screen() }
}

/// A line to type in, with something wrong in it.
pub(super) fn prompt() -> Screen {
    Screen {
        overlay: Some(Overlay::Prompt(Prompt {
            title: "jump to an id or a named loop".to_string(),
            text: "zero/ymn/u4".to_string(),
            error: Some("`ymn` is no class; did you mean ymm or xmm?".to_string()),
            suggestions: words("zero/ymm/u4 zero/xmm/u4 linux-2.4-sse"),
        })),
        ..screen()
    }
}

/// A list with the cursor in it.
pub(super) fn choice() -> Screen {
    Screen {
        overlay: Some(Overlay::Choice {
            title: "axis that runs to the right".to_string(),
            items: axes().into_iter().map(|axis| axis.key).collect(),
            at: 4,
        }),
        ..screen()
    }
}
