use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::mem::Arena;

/// The second argument where the list gives it.
const SECOND: usize = 99;

/// Runs `code` over a list of slots of three words each, all bits set before but for the
/// first word; the slots after it.
fn run(style: Style, code: &[u8], slots: usize, calls: u64, mask: usize) -> Vec<[usize; 3]> {
    let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
    let mut arena = Arena::new(4096).expect("a page is there");
    let slot = arena.emit(&[code], &mut ChaCha8Rng::seed_from_u64(1)).expect("fits")[0];
    let mut memory = vec![[0, usize::MAX, usize::MAX]; slots];
    let slots = memory.iter_mut().map(|s| s.as_mut_ptr() as usize);
    let list: Vec<usize> = match style.apart {
        true => slots.flat_map(|slot| [slot, SECOND]).collect(),
        false => slots.collect(),
    };
    let range = list.as_ptr_range();
    let args = PassArgs {
        list: range.start,
        list_end: range.end,
        calls,
        entry: slot.addr,
        second_mask: mask,
        second_plus: 5,
        third: 77,
        last: 23,
    };
    // SAFETY: `code` is a function that writes to the three words of the slot it is
    // given, and the list holds such slots only.
    let ticks = unsafe { driver.pass(style, &args) };
    assert!(ticks > 0);
    std::hint::black_box(&mut memory).clone()
}

#[test]
fn every_call_is_made_and_the_list_is_walked_round() {
    // add qword [rdi], 1; ret
    let count = [0x48, 0x83, 0x07, 0x01, 0xc3];
    for style in Style::all() {
        let counts = |slots, calls| -> Vec<usize> {
            run(style, &count, slots, calls, 0).iter().map(|s| s[0]).collect()
        };
        assert_eq!(counts(3, 0), [0, 0, 0]);
        assert_eq!(counts(3, 2), [1, 1, 0]);
        assert_eq!(counts(3, 8), [3, 3, 2]);
        assert_eq!(counts(1, 1000), [1000]);
    }
}

#[test]
fn arguments_are_as_told_whatever_the_last_byte_was() {
    // mov [rdi], rsi; mov [rdi + 8], rdx; mov rax, rdi; ret
    let keep = [0x48, 0x89, 0x37, 0x48, 0x89, 0x57, 0x08, 0x48, 0x89, 0xf8, 0xc3];
    for style in Style::all() {
        let second = if style.apart { SECOND } else { 5 };
        for slot in run(style, &keep, 2, 6, 0) {
            assert_eq!(slot, [second, 77, usize::MAX]);
        }
        let moving = run(style, &keep, 2, 6, usize::MAX);
        let step = if style.apart { 0 } else { size_of::<[usize; 3]>() };
        assert_eq!(moving[1][0] - moving[0][0], step);
        assert!(moving.iter().all(|s| s[1..] == [77, usize::MAX]));
    }
}

#[test]
fn styles_are_told_apart_by_their_index() {
    assert!(Style::all().enumerate().all(|(i, style)| style.index() == i));
    assert_eq!(Style::PLAIN.index(), 0);
}

/// Where the list ends at the last page that can be read, a consumer that goes a byte beyond
/// the destination dies; one that reads all of it takes longer than nobody.
#[test]
fn the_consumer_reads_the_destination_and_nothing_else() {
    const N: usize = 1 << 16;
    let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
    let buffer = crate::mem::Guarded::new(N).expect("memory is there");
    let least = |consumer, start: usize| {
        let list = [start];
        let args = PassArgs {
            list: list.as_ptr(),
            list_end: list.as_ptr_range().end,
            calls: 4,
            entry: driver.bare_ret(),
            second_mask: 0,
            second_plus: 0,
            third: 0,
            last: buffer.address() + N - 1 - start,
        };
        let style = Style { consumer, ..Style::PLAIN };
        // SAFETY: the function only returns; all bytes from the address to the last of the
        // buffer are readable.
        (0..20).map(|_| unsafe { driver.pass(style, &args) }).min().unwrap_or(0)
    };
    for offset in [0, 1, 63, 64, 4095, N - 65, N - 64, N - 1] {
        assert!(least(Consumer::Read, buffer.address() + offset) > 0);
    }
    let (nobody, reader) =
        (least(Consumer::None, buffer.address()), least(Consumer::Read, buffer.address()));
    assert!(reader > nobody * 2, "{reader} and {nobody}");
}

#[test]
fn the_ruler_gives_a_rate() {
    let driver = Driver::new(FeatureSet::EMPTY).expect("memory is there");
    let ruled = driver.rule(0.0);
    assert!(ruled.cycles_per_tick > 0.0 && ruled.add_cycles_per_tick > 0.0, "{ruled:?}");
    // A neighbour may have most of the core, but a chain is one addition a cycle at most.
    let best = (0..200).map(|_| driver.rule(0.0).additions).fold(0.0, f64::max);
    assert!(best > 1.0, "{best}");
}
