//! Maps of a cell's buffers: filled, backed by the pages that the cell asks for, and the
//! kernel's word that they are.

use super::MeasureError;
use crate::mem::{Map, SharedPage};
use crate::subject::Pages;

/// Words filled between two beats: a MiB.
const BEAT_WORDS: usize = 1 << 17;

/// Buffers below this are not worth asking the system whether they fit.
const SURELY_THERE: u64 = 64 << 20;

/// A map of written words.
///
/// # Errors
/// Where memory is refused, or other pages back it than were asked for.
pub(super) fn written(
    bytes: usize,
    pages: Pages,
    shared: Option<&SharedPage>,
    word: impl Fn(usize) -> u64,
) -> Result<Map, MeasureError> {
    let mut map = untouched(bytes, pages)?;
    for (i, chunk) in map.bytes_mut().chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&word(i).to_le_bytes()[..chunk.len()]);
        if i % BEAT_WORDS == 0 {
            shared.inspect(|s| s.beat());
        }
    }
    if pages == Pages::Huge {
        if lacks_huge(&map) {
            map.collapse();
        }
        if lacks_huge(&map) {
            return Err(MeasureError::SmallPages {
                bytes: map.len(),
                huge: map.huge_bytes().unwrap_or(0),
                mode: std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
                    .map_or("unknown".into(), |mode| mode.trim().to_string()),
            });
        }
        return Ok(map);
    }
    match map.huge_bytes() {
        Some(bytes) if bytes > 0 => Err(MeasureError::HugePages { bytes }),
        _ => Ok(map),
    }
}

/// A map that nobody has touched: the kernel's page of zeros where it is read.
///
/// # Errors
/// Where memory or the kind of pages is refused.
pub(super) fn untouched(bytes: usize, pages: Pages) -> Result<Map, MeasureError> {
    if pages == Pages::Huge {
        return Ok(Map::huge(bytes)?);
    }
    let mut map = Map::new(bytes)?;
    map.advise_no_huge()?;
    Ok(map)
}

/// A map to fill the caches from: whatever pages there are, huge ones sooner, which leave no
/// set of the cache out.
///
/// # Errors
/// Where memory is refused.
pub(super) fn debt(bytes: usize) -> Result<Map, MeasureError> {
    let mut map = Map::huge(bytes).or_else(|_| Map::new(bytes))?;
    map.bytes_mut().fill(0xa5);
    Ok(map)
}

fn lacks_huge(map: &Map) -> bool {
    map.huge_bytes().is_none_or(|huge| (huge as usize) < map.len())
}

/// Whether buffers of so many bytes leave enough memory for their verification, which needs
/// as much again. Beyond it the system would end this process, or others.
pub(super) fn fits_memory(bytes: u64) -> Result<(), MeasureError> {
    if bytes < SURELY_THERE {
        return Ok(());
    }
    let Some(available) = available_memory() else { return Ok(()) };
    if bytes > available / 3 {
        return Err(MeasureError::NoState(format!(
            "buffers of {} MiB and their verification do not fit the {} MiB of free memory",
            bytes >> 20,
            available >> 20
        )));
    }
    Ok(())
}

/// Bytes that can be had without pushing others out, where the system tells.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}
