//! Tiles.

use super::{Blame, Machine};
use looptune::ir::{Gp, Insn, Mem};

const TILES: usize = 8;
const MOST_ROWS: usize = 16;
const MOST_ROW_BYTES: usize = 64;

/// The tiles of a configuration.
pub(super) struct Tiles {
    rows: [usize; TILES],
    row_bytes: [usize; TILES],
    data: Vec<[[u8; MOST_ROW_BYTES]; MOST_ROWS]>,
}

impl Tiles {
    /// What `ldtilecfg` makes of 64 bytes; `None` where it faults.
    fn configured(bytes: &[u8; 64]) -> Option<Tiles> {
        let [palette, start_row, reserved @ ..] = bytes;
        // Bytes 2 to 15, and of the sixteen places for tiles the upper eight.
        let clear = [&reserved[..14], &bytes[32..48], &bytes[56..]];
        if *palette != 1 || *start_row != 0 || clear.concat().iter().any(|b| *b != 0) {
            return None;
        }
        let row_bytes = std::array::from_fn(|tile| {
            usize::from(u16::from_le_bytes([bytes[16 + 2 * tile], bytes[17 + 2 * tile]]))
        });
        let rows = std::array::from_fn(|tile| usize::from(bytes[48 + tile]));
        let fits = |tile: usize| {
            let (rows, bytes): (usize, usize) = (rows[tile], row_bytes[tile]);
            rows <= MOST_ROWS && bytes <= MOST_ROW_BYTES && (rows == 0) == (bytes == 0)
        };
        let data = vec![[[0; MOST_ROW_BYTES]; MOST_ROWS]; TILES];
        (0..TILES).all(fits).then_some(Tiles { rows, row_bytes, data })
    }
}

impl Machine<'_> {
    pub(super) fn tile(&mut self, insn: &Insn) -> Result<(), Blame> {
        match *insn {
            Insn::TileConfig { mem } => {
                let bytes = self.load(self.address(mem), 64)?;
                self.tiles = Some(Tiles::configured(&bytes).ok_or(Blame::BadTiles)?);
            }
            Insn::TileRelease => self.tiles = None,
            Insn::TileZero { tile } => {
                let tiles = self.tiles.as_mut().ok_or(Blame::NoTiles(*insn))?;
                tiles.data[usize::from(tile)] = [[0; MOST_ROW_BYTES]; MOST_ROWS];
            }
            Insn::TileLoad { tile, mem } => {
                let tile = usize::from(tile);
                let (rows, bytes) = self.shape(tile, insn)?;
                for row in 0..rows {
                    let value = self.load(self.row(mem, row), bytes)?;
                    let tiles = self.tiles.as_mut().ok_or(Blame::NoTiles(*insn))?;
                    tiles.data[tile][row] = value;
                }
            }
            Insn::TileStore { mem, tile } => {
                let tile = usize::from(tile);
                let (rows, bytes) = self.shape(tile, insn)?;
                for row in 0..rows {
                    let tiles = self.tiles.as_ref().ok_or(Blame::NoTiles(*insn))?;
                    let value = tiles.data[tile][row];
                    self.store(self.row(mem, row), &value[..bytes])?;
                }
            }
            _ => return Err(Blame::Unexpected(*insn)),
        }
        Ok(())
    }

    /// Rows, and bytes of each.
    fn shape(&self, tile: usize, insn: &Insn) -> Result<(usize, usize), Blame> {
        let tiles = self.tiles.as_ref().ok_or(Blame::NoTiles(*insn))?;
        match (tiles.rows[tile], tiles.row_bytes[tile]) {
            (0, _) => Err(Blame::NoTiles(*insn)),
            shape => Ok(shape),
        }
    }

    /// The address of a row: the index is the step.
    fn row(&self, mem: Mem, row: usize) -> u64 {
        let gp = |r: Gp| self.gp[r as usize];
        let step = mem.index.map_or(0, gp).wrapping_mul(row as u64);
        gp(mem.base).wrapping_add(mem.disp as i64 as u64).wrapping_add(step)
    }
}
