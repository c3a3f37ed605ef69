//! Screens that make no sense must not bring a view down.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::screen::*;
use super::{Depth, Look, hit, paint, svg};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-z0-9+/]{1,12}",
        "[a-z ,]{0,90}",
        "\\PC{0,8}",
        Just("幅の広い文字\u{301}\t\n".to_string()),
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.5f64..100.0,
        1 => prop::num::f64::ANY,
    ]
}

fn interval() -> impl Strategy<Value = (f64, f64, f64)> {
    (number(), number(), number())
}

fn heat() -> impl Strategy<Value = Heat> {
    prop_oneof![
        Just(Heat::Unmeasured),
        Just(Heat::Measuring),
        Just(Heat::Illegal),
        Just(Heat::Unsupported),
        Just(Heat::Failed),
        (number(), any::<bool>()).prop_map(|(slower, fine)| Heat::Measured { slower, fine }),
    ]
}

fn ticks() -> impl Strategy<Value = Ticks> {
    (text(), vec(text(), 0..70)).prop_map(|(key, values)| Ticks { key, values })
}

fn place() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![9 => (0usize..80, 0usize..80), 1 => Just((usize::MAX, usize::MAX))]
}

fn map() -> impl Strategy<Value = HeatMap> {
    let places = (place(), option::of(place()), option::of(place()));
    (ticks(), ticks(), vec(heat(), 0..300), places)
        .prop_map(|(x, y, cells, (cursor, pin, best))| HeatMap { x, y, cells, cursor, pin, best })
}

fn axes() -> impl Strategy<Value = Vec<AxisLine>> {
    let role = prop_oneof![Just(AxisRole::Fixed), Just(AxisRole::X), Just(AxisRole::Y)];
    let axis = (text(), option::of(text()), role, any::<bool>());
    let axis =
        axis.prop_map(|(key, value, role, selected)| AxisLine { key, value, role, selected });
    vec(axis, 0..40)
}

fn listing() -> impl Strategy<Value = Listing> {
    let offset = prop_oneof![9 => 0u32..600, 1 => any::<u32>()];
    let line = (offset, vec(any::<u8>(), 0..16), text(), any::<bool>())
        .prop_map(|(offset, bytes, text, in_loop)| ListingLine { offset, bytes, text, in_loop });
    let scroll = prop_oneof![-20i32..20, any::<i32>()];
    (text(), vec(line, 0..80), option::of(0usize..100), scroll, text()).prop_map(
        |(id, lines, loop_line, scroll, absent)| Listing { id, lines, loop_line, scroll, absent },
    )
}

fn figures() -> impl Strategy<Value = Figures> {
    let ratio = || {
        (text(), interval(), text()).prop_map(|(name, (ratio, low, high), verdict)| Ratio {
            name,
            ratio,
            ci: (low, high),
            verdict,
        })
    };
    let bins = vec(prop_oneof![0u32..50, Just(u32::MAX)], 0..90);
    let histogram = (number(), number(), bins, any::<u32>())
        .prop_map(|(low, high, bins, above)| Histogram { range: (low, high), bins, above });
    let figures = (option::of(number()), option::of(number()), option::of(interval()));
    (
        (text(), any::<usize>(), option::of(interval())),
        figures,
        (option::of(ratio()), option::of(ratio())),
        (option::of(histogram), option::of(text())),
    )
        .prop_map(
            |((id, samples, ns), (rate, share, clock), (baseline, pin), (histogram, note))| {
                Figures {
                    id,
                    samples,
                    ns,
                    bytes_per_cycle: rate,
                    share_of_limit: share,
                    clock_ghz: clock,
                    baseline,
                    pin,
                    histogram,
                    note,
                }
            },
        )
}

fn curve() -> impl Strategy<Value = Curve> {
    let point = (number(), text(), interval()).prop_map(|(x, label, y)| CurvePoint { x, label, y });
    let series = (text(), vec(point, 0..30)).prop_map(|(name, points)| Series { name, points });
    let cursor = option::of(0usize..40);
    ((text(), text(), text()), any::<bool>(), vec(series, 0..6), cursor).prop_map(
        |((title, x, y), logarithmic, series, cursor)| Curve {
            title,
            x,
            y,
            logarithmic,
            series,
            cursor,
        },
    )
}

fn overlay() -> impl Strategy<Value = Overlay> {
    let help = vec((text(), vec((text(), text()), 0..20)), 0..7).prop_map(Overlay::Help);
    let prompt = (text(), text(), option::of(text()), vec(text(), 0..20)).prop_map(
        |(title, text, error, suggestions)| {
            Overlay::Prompt(Prompt { title, text, error, suggestions })
        },
    );
    let choice = (text(), vec(text(), 0..60), 0usize..80)
        .prop_map(|(title, items, at)| Overlay::Choice { title, items, at });
    prop_oneof![help, prompt, choice]
}

fn screen() -> impl Strategy<Value = Screen> {
    let title = vec(text(), 6).prop_map(|texts| {
        let at = |index: usize| texts.get(index).cloned().unwrap_or_default();
        Title {
            op: at(0),
            size: at(1),
            state: at(2),
            drive: at(3),
            baseline: at(4),
            source: at(5),
            done: (3, usize::from(!at(5).is_empty()) * 90),
        }
    });
    let kind = prop_oneof![
        Just(StatusKind::Hint),
        Just(StatusKind::Done),
        Just(StatusKind::Notice),
        Just(StatusKind::Error)
    ];
    let status = (kind, text()).prop_map(|(kind, text)| Status { kind, text });
    let over = (option::of(curve()), option::weighted(0.3, overlay()), status);
    // Each part on the heap: together they are more than the stack of a test holds.
    let parts =
        (title.boxed(), map().boxed(), axes().boxed(), listing().boxed(), figures().boxed());
    let over = over.boxed();
    (parts, over).prop_map(|((title, map, axes, listing, figures), (curve, overlay, status))| {
        Screen { title, map, axes, listing, figures, curve, overlay, status }
    })
}

fn look() -> impl Strategy<Value = Look> {
    let depth = prop_oneof![
        Just(Depth::None),
        Just(Depth::Sixteen),
        Just(Depth::Indexed),
        Just(Depth::True)
    ];
    (depth, any::<bool>()).prop_map(|(depth, ascii)| Look { depth, ascii })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn any_screen_is_drawn_at_any_size(
        screen in screen(),
        width in prop_oneof![1 => 0u16..60, 3 => 60u16..220],
        height in prop_oneof![1 => 0u16..16, 3 => 16u16..70],
        look in look(),
        clicks in vec((0u16..230, 0u16..80), 8),
    ) {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let cursor = paint(&screen, area, &mut buffer, look);
        prop_assert!(cursor.is_none_or(|cursor| area.contains(cursor)));
        if look.ascii {
            prop_assert!(buffer.content().iter().all(|cell| cell.symbol().is_ascii()));
        }
        for (column, row) in clicks {
            let target = hit(&screen, area, column, row);
            prop_assert!(target.is_none() || area.contains((column, row).into()));
        }
        prop_assert!(svg(&buffer, "any").ends_with("</svg>\n"));
    }
}
