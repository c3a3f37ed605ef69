//! The explorer in a real terminal: a person's way through it, and every way out of it.

#[path = "common/processes.rs"]
mod processes;
#[path = "common/tmux.rs"]
mod tmux;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use processes::{no_workers_of, signal, workers_of};
use tmux::Tmux;

const LOOPTUNE: &str = env!("CARGO_BIN_EXE_looptune");

const LARGE: (u16, u16) = (120, 40);

/// An explorer in a terminal of its own. Before it, `before` holds what the terminal is set
/// to; after it the shell says `left` and its status, and `after` holds the same.
fn explore(name: &str, area: (u16, u16), folder: &Path, command: &str) -> Option<Tmux> {
    let tmux = Tmux::start(name, area, folder)?;
    tmux.line("stty -a > before");
    // The answer is not to be found in the question.
    let after = "echo le''ft $?; stty -a > after; echo do''ne";
    tmux.line(&format!("{command}; {after}"));
    Some(tmux)
}

/// Asserts that the terminal is given back as it was; gives the status.
fn given_back(tmux: &Tmux, folder: &Path) -> i32 {
    let screen = tmux.wait_for("done");
    for (fact, value) in [("alternate_on", "0"), ("mouse_any_flag", "0"), ("cursor_flag", "1")] {
        assert_eq!(tmux.fact(fact), value, "{fact}\n{screen}");
    }
    // The first line has the size, which may have been changed meanwhile.
    let settings = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        text.lines().skip(1).map(String::from).collect()
    };
    assert_eq!(settings("before"), settings("after"));
    let status = screen.lines().find_map(|line| line.split_once("left "));
    status.unwrap_or_else(|| panic!("no status:\n{screen}")).1.trim().parse().unwrap()
}

fn room() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The loop that the screen is about.
fn shown_loop(screen: &str) -> String {
    let mut words = screen.split(|c: char| c.is_whitespace() || "│┃|".contains(c));
    words.find(|w| w.starts_with("zero/") || w.starts_with("copy/")).unwrap_or_default().into()
}

#[test]
fn a_fresh_person_finds_the_best_alignment_and_takes_it_away() {
    let room = room();
    let command = format!("{LOOPTUNE} explore");
    let Some(tmux) = explore("way", LARGE, room.path(), &command) else { return };
    let begun = Instant::now();
    tmux.wait_for("unroll");
    tmux.text("?");
    let help = tmux.wait_for("take away");
    assert!(help.contains("fastest") && help.contains("quit"), "{help}");
    tmux.keys(&["Escape"]);
    tmux.wait("map without help", |screen| !screen.contains("take away"));
    // The first cursor is on unroll 4; all of the map is looked at within seconds.
    tmux.wait_for("99/99");
    tmux.text("F");
    let screen = tmux.wait_for("the fastest of this row: zero/");
    assert!(shown_loop(&screen).contains("/u4"), "{screen}");
    let id = shown_loop(&screen);
    assert!(screen.contains("vmovdqu") || screen.contains("mov"), "{screen}");
    tmux.text("e");
    tmux.wait_for("export zero/");
    tmux.keys(&["Enter"]);
    let screen = tmux.wait("word on the export", |screen| {
        screen.contains("fully verified") || screen.contains("not exported")
    });
    assert!(screen.contains("fully verified"), "{screen}");
    // Slow machines are slow; a quiet one takes a few seconds for all of it.
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    let file = std::fs::read_dir(room.path()).unwrap().filter_map(Result::ok);
    let file = file.map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == "S")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("looptune_zero:") && text.contains("zero/"), "{text}");
    assert!(text.contains(id.trim_end_matches('…')), "{id}\n{text}");
    assert!(text.contains("bytes/cycle"), "figures stand in the head:\n{text}");
    tmux.text("q");
    assert_eq!(given_back(&tmux, room.path()), 0);
}

#[test]
fn every_way_out_gives_the_terminal_back() {
    type Leave = fn(&Tmux, u32);
    let ways: [(&str, i32, Leave); 6] = [
        ("q", 0, |tmux, _| tmux.text("q")),
        ("control-c", 0, |tmux, _| tmux.keys(&["C-c"])),
        ("prompt", 0, |tmux, _| {
            tmux.text("/zero");
            tmux.keys(&["C-c"]);
        }),
        ("term", 0, |_, pid| signal(pid, "TERM")),
        ("quit", 0, |_, pid| signal(pid, "QUIT")),
        ("panic", 101, |tmux, _| tmux.text("%")),
    ];
    for (name, status, leave) in ways {
        let room = room();
        let command = format!("{LOOPTUNE} explore --panic-on %");
        let Some(tmux) = explore(name, LARGE, room.path(), &command) else { return };
        tmux.wait_for("unroll");
        let pid = tmux.child();
        leave(&tmux, pid);
        assert_eq!(given_back(&tmux, room.path()), status, "{name}");
        no_workers_of(pid);
    }
}

#[test]
fn a_killed_worker_is_replaced() {
    let room = room();
    let command = format!("{LOOPTUNE} explore");
    let Some(tmux) = explore("kill", LARGE, room.path(), &command) else { return };
    tmux.wait_for("99/99");
    let pid = tmux.child();
    let before = workers_of(pid);
    assert!(!before.is_empty());
    before.iter().for_each(|worker| signal(*worker, "KILL"));
    // All again: that needs another one.
    tmux.text("R");
    let until = Instant::now() + Duration::from_secs(60);
    while !workers_of(pid).iter().any(|worker| !before.contains(worker)) {
        assert!(Instant::now() < until, "no other worker:\n{}", tmux.screen());
        std::thread::sleep(Duration::from_millis(20));
    }
    tmux.wait_for("99/99");
    tmux.text("q");
    assert_eq!(given_back(&tmux, room.path()), 0);
}

#[test]
fn it_fits_80_columns_without_colour_and_hears_the_mouse() {
    let room = room();
    let command = format!("NO_COLOR=1 {LOOPTUNE} explore --size 256 --state l1");
    let Some(tmux) = explore("small", LARGE, room.path(), &command) else { return };
    tmux.wait_for("unroll");
    let coloured = tmux.ask(&["capture-pane", "-p", "-e"]);
    // 39 and 49 are the terminal's own colours.
    let codes = coloured.split("\u{1b}[").skip(1).filter_map(|rest| rest.split_once('m'));
    let sets_colour = |code: &str| {
        let colours = ["3", "4", "9", "10"].iter().filter_map(|c| code.strip_prefix(c));
        colours.into_iter().any(|rest| rest.len() == 1 && rest != "9") || code.len() > 4
    };
    let colours: Vec<&str> =
        codes.flat_map(|(codes, _)| codes.split(';')).filter(|code| sets_colour(code)).collect();
    assert!(colours.is_empty(), "{colours:?}");
    assert!(coloured.contains("\u{1b}["), "bold and reverse are left");
    tmux.ask(&["resize-window", "-x", "80", "-y", "24"]);
    tmux.wait("screen of 80 columns", |screen| {
        screen.lines().count() <= 24
            && screen.lines().all(|line| line.chars().count() <= 80)
            && screen.contains("unroll")
            && screen.contains("zero/")
    });
    tmux.wait_for("99/99");
    // A click on an axis selects it, and + changes it.
    let screen = tmux.screen();
    let row = screen.lines().position(|line| line.contains("touch")).unwrap();
    let line = screen.lines().nth(row).unwrap();
    let column = line[..line.find("touch").unwrap()].chars().count();
    tmux.text(&format!("\u{1b}[<0;{};{}M", column + 2, row + 1));
    tmux.text(&format!("\u{1b}[<0;{};{}m", column + 2, row + 1));
    tmux.text("+");
    tmux.wait("reads before writes", |screen| shown_loop(screen).ends_with("/rbw"));
    // Put aside, the shell has its terminal; called back, it is drawn again.
    signal(tmux.child(), "TSTP");
    tmux.wait_for("left 147");
    assert_eq!(tmux.fact("alternate_on"), "0");
    tmux.line("clear; fg; echo le''ft $?; stty -a > after; echo do''ne");
    tmux.wait("the explorer again", |screen| {
        tmux.fact("alternate_on") == "1" && shown_loop(screen).ends_with("/rbw")
    });
    tmux.text("q");
    assert_eq!(given_back(&tmux, room.path()), 0);
}

#[test]
fn what_was_written_is_explored_without_measuring_even_if_cut_off() {
    let room = room();
    let command = format!("{LOOPTUNE} explore --results kept");
    let Some(tmux) = explore("from", LARGE, room.path(), &command) else { return };
    tmux.wait_for("99/99");
    tmux.text("w");
    tmux.wait_for("rows written to");
    tmux.text("q");
    assert_eq!(given_back(&tmux, room.path()), 0);
    drop(tmux);
    let host = std::fs::read_dir(room.path().join("kept")).unwrap().next().unwrap().unwrap().path();
    let trials = host.join("trials.csv");
    let mut text = std::fs::read_to_string(&trials).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains(",bench,candidate,")).count(), 99);
    // The report and the export read them like those of any run.
    let ran = |args: &[&str]| {
        let out = Command::new(LOOPTUNE).args(args).current_dir(room.path()).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{args:?}: {said}");
    };
    ran(&["report", "--results", "kept"]);
    ran(&["export", "--op", "zero", "--size", "4096", "--results", "kept", "-o", "best.S"]);
    text.truncate(text.trim_end().len() - 10);
    std::fs::write(&trials, &text).unwrap();
    let picture = room.path().join("screen.txt");
    ran(&["explore", "--from", "kept", "--snapshot", "screen.txt"]);
    let screen = std::fs::read_to_string(&picture).unwrap();
    assert!(screen.contains("recorded in") && screen.contains("cut off"), "{screen}");
    assert!(screen.contains("98/99") || screen.contains("99/99"), "{screen}");
    assert!(screen.chars().any(|c| "▂▃▄▅▆▇█".contains(c)), "no histogram:\n{screen}");
}

#[test]
fn without_a_terminal_it_says_what_to_run() {
    let out = Command::new(LOOPTUNE).arg("explore").output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("looptune report") && said.contains("looptune search"), "{said}");
    let room = room();
    let Some(tmux) = Tmux::start("dumb", LARGE, room.path()) else { return };
    tmux.line(&format!("TERM=dumb {LOOPTUNE} explore; echo le''ft $?"));
    let screen = tmux.wait_for("left 2");
    assert!(screen.contains("TERM=dumb"), "{screen}");
}
