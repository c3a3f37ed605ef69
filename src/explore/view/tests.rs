//! What the screens look like.

use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

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
