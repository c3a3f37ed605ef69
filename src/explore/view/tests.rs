//! What the screens look like.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::super::screen::*;
use super::*;

const PLAIN: Look = Look { depth: Depth::None, ascii: false };
const COLOUR: Look = Look { depth: Depth::True, ascii: false };

fn drawn(screen: &Screen, (columns, rows): (u16, u16), look: Look) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(screen, frame, &look)).unwrap();
    terminal.backend().buffer().clone()
}

fn lines(buffer: &Buffer) -> String {
    let area = buffer.area();
    let line = |row: u16| {
        let symbols = (area.left()..area.right()).map(|column| buffer[(column, row)].symbol());
        symbols.collect::<String>().trim_end().to_string()
    };
    (area.top()..area.bottom()).map(line).collect::<Vec<_>>().join("\n")
}

/// The screens that people meet, by name.
fn screens() -> Vec<(&'static str, Screen)> {
    vec![
        ("map", fixture::screen()),
        ("illegal", fixture::illegal()),
        ("fresh", fixture::fresh()),
        ("failed", fixture::failed()),
        ("skew_curve", fixture::skew_curve()),
        ("size_curve", fixture::size_curve()),
        ("help", fixture::help()),
        ("prompt", fixture::prompt()),
        ("choice", fixture::choice()),
    ]
}

#[test]
fn screens_as_text() {
    for (name, screen) in screens() {
        for size in [(80, 24), (120, 40)] {
            let text = lines(&drawn(&screen, size, COLOUR));
            insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), text);
        }
    }
    let text = lines(&drawn(&fixture::screen(), (200, 60), COLOUR));
    insta::assert_snapshot!("map_200x60", text);
    let text = lines(&drawn(&fixture::screen(), (60, 16), COLOUR));
    insta::assert_snapshot!("map_60x16", text);
    let text = lines(&drawn(&fixture::screen(), (40, 9), COLOUR));
    insta::assert_snapshot!("too_small", text);
}

/// A letter for each cell that is not plain: reversed, bold, underlined, dim.
fn modifiers(buffer: &Buffer) -> String {
    let letters = [
        (Modifier::REVERSED, "R"),
        (Modifier::UNDERLINED, "U"),
        (Modifier::BOLD, "B"),
        (Modifier::DIM, "d"),
    ];
    let mut marks = Buffer::empty(*buffer.area());
    for position in buffer.area().positions() {
        let has =
            letters.iter().find(|(modifier, _)| buffer[position].modifier.contains(*modifier));
        marks[position].set_symbol(has.map_or(" ", |(_, letter)| letter));
    }
    lines(&marks)
}

#[test]
fn without_colour_nothing_is_lost() {
    for (name, screen) in screens() {
        for size in [(80, 24), (120, 40)] {
            let plain = drawn(&screen, size, PLAIN);
            let coloured =
                |cell: &&ratatui::buffer::Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
            assert_eq!(plain.content().iter().find(coloured), None, "{name}");
            assert_eq!(lines(&plain), lines(&drawn(&screen, size, COLOUR)), "{name}");
        }
    }
    let buffer = drawn(&fixture::screen(), (80, 24), PLAIN);
    let text = format!("{}\n\n{}", lines(&buffer), modifiers(&buffer));
    insta::assert_snapshot!("no_colour_80x24", text);
}

#[test]
fn ascii_is_enough() {
    let look = Look { ascii: true, ..PLAIN };
    for (name, screen) in screens() {
        let text = lines(&drawn(&screen, (80, 24), look));
        assert!(text.is_ascii(), "{name}: {text}");
        // Every character that is drawn has a stand-in; `?` is that of one of them.
        let unicode = lines(&drawn(&screen, (80, 24), PLAIN));
        assert_eq!(text.matches('?').count(), unicode.matches(['?', '⋯']).count(), "{text}");
    }
    for (name, screen) in [("map", fixture::screen()), ("curve", fixture::skew_curve())] {
        let text = lines(&drawn(&screen, (80, 24), look));
        insta::assert_snapshot!(format!("ascii_{name}_80x24"), text);
    }
}

#[test]
fn text_reads_on_every_coloured_cell() {
    for depth in [Depth::Sixteen, Depth::Indexed, Depth::True] {
        let buffer = drawn(&fixture::screen(), (120, 40), Look { depth, ascii: false });
        let mut seen = 0;
        for cell in buffer.content().iter().filter(|cell| cell.bg != Color::Reset) {
            if cell.symbol() == " " || cell.modifier.contains(Modifier::REVERSED) {
                continue;
            }
            let light = |color| ramp::luminance(ramp::rgb(color).unwrap());
            let contrast = ramp::contrast(light(cell.fg), light(cell.bg));
            assert!(contrast >= 4.5, "{depth:?}: {cell:?} {contrast:.2}");
            seen += 1;
        }
        assert!(seen > 90, "{depth:?}: {seen}");
    }
}

#[test]
fn a_new_axis_appears_by_itself() {
    let mut screen = fixture::screen();
    screen.axes.push(AxisLine {
        key: "phase".to_string(),
        value: Some("moon".to_string()),
        role: AxisRole::Fixed,
        selected: true,
    });
    for axis in &mut screen.axes {
        axis.selected = axis.key == "phase";
    }
    screen.map.y.key = "phase".to_string();
    screen.map.y.values[8] = "moon".to_string();
    for size in [(80, 24), (120, 40)] {
        let text = lines(&drawn(&screen, size, COLOUR));
        let line = text.lines().find(|line| line.contains("phase") && line.contains("moon"));
        assert!(line.is_some() && text.contains("phase ↓"), "{text}");
    }
}

/// The first place that `wanted` is true of.
fn find(buffer: &Buffer, wanted: impl Fn(&ratatui::buffer::Cell) -> bool) -> Option<(u16, u16)> {
    let mut places = buffer.area().positions();
    places.find(|place| wanted(&buffer[*place])).map(|place| (place.x, place.y))
}

const SIZES: [(u16, u16); 5] = [(60, 16), (80, 24), (100, 30), (120, 40), (200, 60)];

#[test]
fn a_click_on_a_cell_means_that_cell() {
    for size in SIZES {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut screen = fixture::fresh();
        screen.map.cells.fill(Heat::Unmeasured);
        let columns = screen.map.x.values.len();
        for index in 0..screen.map.cells.len() {
            let at = (index % columns, index / columns);
            screen.map.cells[index] = Heat::Failed;
            // a cell that is scrolled away cannot be clicked
            screen.map.cursor = at;
            let place = find(&drawn(&screen, size, COLOUR), |cell| cell.symbol() == "!").unwrap();
            let hit = hit(&screen, area, place.0, place.1);
            assert_eq!(hit, Some(Target::Cell(at.0, at.1)), "{size:?}");
            screen.map.cells[index] = Heat::Unmeasured;
        }
    }
}

#[test]
fn a_click_on_an_axis_a_point_or_an_item_means_it() {
    let reversed = |cell: &ratatui::buffer::Cell| cell.modifier.contains(Modifier::REVERSED);
    for size in SIZES {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut screen = fixture::screen();
        for index in 0..screen.axes.len() {
            for (other, axis) in screen.axes.iter_mut().enumerate() {
                axis.key = if other == index { "@@".into() } else { "other".into() };
                axis.selected = other == index;
            }
            let buffer = drawn(&screen, size, COLOUR);
            let (column, row) = find(&buffer, |cell| cell.symbol() == "@").unwrap();
            assert_eq!(hit(&screen, area, column, row), Some(Target::Axis(index)), "{size:?}");
        }
        for mut screen in [fixture::skew_curve(), fixture::size_curve()] {
            for index in 0..screen.curve.as_ref().unwrap().series[0].points.len() {
                screen.curve.as_mut().unwrap().cursor = Some(index);
                let buffer = drawn(&screen, size, COLOUR);
                let point = |cell: &ratatui::buffer::Cell| cell.symbol() == "●" && reversed(cell);
                let (column, row) = find(&buffer, point).unwrap();
                let hit = hit(&screen, area, column, row);
                assert_eq!(hit, Some(Target::Point(index)), "{size:?}");
            }
        }
        let mut screen = fixture::choice();
        for index in 0..12 {
            if let Some(Overlay::Choice { at, .. }) = &mut screen.overlay {
                *at = index;
            }
            let buffer = drawn(&screen, size, COLOUR);
            let (column, row) = find(&buffer, |cell| cell.symbol() == "▸").unwrap();
            assert_eq!(hit(&screen, area, column, row), Some(Target::Item(index)), "{size:?}");
        }
        // what lies below an overlay is out of reach
        assert_eq!(hit(&fixture::help(), area, 6, 6), None);
        assert_eq!(hit(&fixture::screen(), area, 0, 0), None);
    }
}

/// Writes the pictures to look at.
#[test]
fn screens_as_pictures() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tmp/explore");
    std::fs::create_dir_all(folder).unwrap();
    for (name, screen) in screens() {
        for size in [(80, 24), (120, 40), (200, 60)] {
            let picture = svg(&drawn(&screen, size, COLOUR), "looptune explore");
            assert!(picture.contains("</svg>"));
            std::fs::write(format!("{folder}/{name}_{}.svg", size.0), picture).unwrap();
        }
    }
}
