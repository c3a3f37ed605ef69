//! Tears, kills, damage and other versions.

use std::fs;
use std::path::Path;

use looptune::results::{Folder, RecordedTrial, hosts, read_decisions, read_trials};
use looptune::subject::Level;
use looptune::trial::Phase;

use super::{KEY, decisions_file, finished, journal, outcome, tell, trials_file};

#[test]
fn a_tear_at_any_byte_costs_at_most_the_last_line() {
    let room = tempfile::tempdir().unwrap();
    finished(room.path());
    for (path, count) in [
        (trials_file(room.path()), trials_read as fn(&Path) -> usize),
        (decisions_file(room.path()), decisions_read),
    ] {
        let whole = fs::read(&path).unwrap();
        let torn = room.path().join("torn.csv");
        fs::write(&torn, &whole).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&torn).unwrap();
        for cut in (0..=whole.len()).rev() {
            file.set_len(cut as u64).unwrap();
            let lines = whole[..cut].iter().filter(|b| **b == b'\n').count();
            let rows = count(&torn);
            let all = whole.iter().filter(|b| **b == b'\n').count();
            // Decisions count as one when, and only when, their last row is whole.
            let wanted = if path.ends_with("trials.csv") {
                lines.saturating_sub(1)
            } else {
                usize::from(lines == all)
            };
            assert_eq!(rows, wanted, "cut at {cut} of {}", path.display());
        }
    }
}

fn trials_read(path: &Path) -> usize {
    let read = read_trials(path).unwrap();
    let text = fs::read(path).unwrap();
    assert_eq!(read.warnings.is_empty(), text.is_empty() || text.ends_with(b"\n"));
    read.rows.len()
}

fn decisions_read(path: &Path) -> usize {
    read_decisions(path).unwrap().rows.len()
}

#[test]
fn a_run_after_a_tear_starts_on_a_fresh_line() {
    let room = tempfile::tempdir().unwrap();
    finished(room.path());
    let whole = fs::read(trials_file(room.path())).unwrap();
    let decided = fs::read(decisions_file(room.path())).unwrap();
    let lines = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'\n').count();
    for cut in (0..whole.len()).step_by(7).chain(whole.len() - 40..whole.len()) {
        let next = tempfile::tempdir().unwrap();
        fs::create_dir_all(next.path().join(KEY)).unwrap();
        fs::write(trials_file(next.path()), &whole[..cut]).unwrap();
        let cut_decided = cut.min(decided.len());
        fs::write(decisions_file(next.path()), &decided[..cut_decided]).unwrap();
        let run = finished(next.path());
        let read = read_trials(&trials_file(next.path())).unwrap();
        let kept = lines(&whole[..cut]).saturating_sub(1);
        assert_eq!(read.rows.len(), kept + 3, "cut at {cut}: {:?}", read.warnings);
        assert!(read.rows[kept..].iter().all(|t| t.run == run));
        // Of the row that was cut, no digit may come back as a number of its own.
        for trial in read.rows.iter().filter_map(|t| t.outcome.as_ref().ok()) {
            assert!([42_100, 46_300].contains(&trial.median.0));
        }
        let decisions = read_decisions(&decisions_file(next.path())).unwrap();
        assert_eq!(decisions.rows.last().unwrap().run, run, "cut at {cut}");
        assert_eq!(decisions.rows.last().unwrap().outcome.as_ref(), Some(&outcome()));
    }
}

/// Where a copy of this test, started to be killed, writes to.
const WRITE_TO: &str = "LOOPTUNE_TEST_WRITE_TO";

#[test]
fn killed_at_any_moment() {
    if let Some(results) = std::env::var_os(WRITE_TO) {
        let mut journal = journal(Path::new(&results));
        let begun = std::time::Instant::now();
        while begun.elapsed().as_secs() < 60 {
            tell(&mut journal, Phase::Race, Level::L1, "zero/ymm/u4/a64", Ok(42.1));
        }
        return;
    }
    let room = tempfile::tempdir().unwrap();
    for moment in 0..8 {
        let mut writer = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::killed_at_any_moment", "--nocapture"])
            .env(WRITE_TO, room.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(3 + moment * 29));
        writer.kill().unwrap();
        writer.wait().unwrap();
        for key in hosts(room.path()).unwrap() {
            let folder = Folder::of_host(room.path(), &key).unwrap();
            let trials = folder.trials().unwrap();
            assert!(trials.rows.iter().flat_map(|t| &t.outcome).all(|s| s.median.0 == 42_100));
            assert_eq!(folder.decisions().unwrap().rows, []);
            looptune::report::plain(&folder).unwrap();
        }
    }
    // The next run is as good as one in a fresh folder.
    let run = finished(room.path());
    let folder = Folder::of_host(room.path(), KEY).unwrap();
    assert_eq!(folder.decisions().unwrap().rows.last().unwrap().run, run);
    let of_run = |t: &&RecordedTrial| t.run == run;
    assert_eq!(folder.trials().unwrap().rows.iter().filter(of_run).count(), 3);
}

#[test]
fn damage_and_later_versions_cost_only_their_lines() {
    let room = tempfile::tempdir().unwrap();
    finished(room.path());
    let path = trials_file(room.path());
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let later = |line: &str, more: &str| format!("{line},{more}");
    let mut file = [
        lines[0].as_bytes().to_vec(),
        lines[1].as_bytes().to_vec(),
        b"garbage".to_vec(),
        b"\"open,quote".to_vec(),
        vec![0xff, 0xfe, 0, b',', 0],
        lines[1].replace("zero/ymm", "zero/qmm").into_bytes(),
        lines[1].replace(",screen,", ",scream,").into_bytes(),
        b"".to_vec(),
        lines[2].as_bytes().to_vec(),
        later(lines[0], "moon_phase").into_bytes(),
        later(lines[1], "full").into_bytes(),
    ]
    .join(&b'\n');
    file.push(b'\n');
    fs::write(&path, &file).unwrap();
    let read = read_trials(&path).unwrap();
    assert_eq!(read.rows.len(), 3, "{:?}", read.warnings);
    assert_eq!(read.warnings.len(), 5, "{:?}", read.warnings);
    for (line, warning) in (3..).zip(&read.warnings) {
        assert!(warning.contains(&format!("trials.csv:{line}: ")), "{warning}");
    }
    // A run of this version puts its own header below the later version's rows.
    finished(room.path());
    let read = read_trials(&path).unwrap();
    assert_eq!(read.rows.len(), 6, "{:?}", read.warnings);
    finished(room.path());
    assert_eq!(read_trials(&path).unwrap().rows.len(), 9);
    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
    assert_eq!(text.lines().filter(|l| l.starts_with("run,")).count(), 3);
}
