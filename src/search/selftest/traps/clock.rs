//! Traps of time and order.

use super::desk::{Cannot, Figure, TrapDesk, cell, each_call, ticks_a_call, usual};
use crate::search::selftest::desk::member;
use crate::search::selftest::judge::paired;
use crate::subject::{Level, Op};

pub(super) fn fence(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    // A ring in the first level has so few lines that those under way at the end weigh.
    let nt = desk.vector(Op::Zero, "/u4/nt")?;
    let members = [("the non-temporal loop", member(&nt.body))];
    let cell = cell(Op::Zero, 4096, Level::L1);
    let time = |desk: &mut TrapDesk<'_>| -> Result<f64, Cannot> {
        Ok(ticks_a_call(&desk.run(cell, &members, (40, 8))?, 0))
    };
    let value = desk.by_turns(time, |desk| desk.with_all(time))?;
    Ok(Figure { value, text: format!("4 KiB with nt in l1: {value:.3} × with the fence") })
}

pub(super) fn fixed_order(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let (plain, nt) = (desk.vector(Op::Copy, "/u4")?, desk.vector(Op::Copy, "/u4/nt")?);
    let of = |body| ("a loop", member(body));
    let members = [of(&plain.body), of(&plain.body), of(&nt.body)];
    let result = desk.run(cell(Op::Copy, 4096, Level::L1), &members, (200, 3))?;
    let value = paired(&result.samples, 0, 1).location().exp();
    Ok(Figure { value, text: format!("after nt over after plain: {value:.4}") })
}

/// Passes that are looked at: a second of them sees some hundred interrupts.
const PASSES: (u32, u32) = (250, 200);

pub(super) fn outliers(desk: &mut TrapDesk<'_>) -> Result<Figure, Cannot> {
    let plain = desk.vector(Op::Zero, "/u4")?;
    let members = [("the plain loop", member(&plain.body))];
    let result = desk.run(cell(Op::Zero, 4096, Level::L1), &members, PASSES)?;
    let mut each = each_call(&result, 0);
    let usual = usual(&each);
    each.sort_unstable_by(|a, b| b.total_cmp(a));
    let slowest = &each[..(each.len() / 1000).max(1).min(each.len())];
    let value = slowest.iter().sum::<f64>() / slowest.len() as f64 / usual;
    let worst = each.first().map_or(f64::NAN, |w| w / usual);
    Ok(Figure { value, text: format!("{value:.2} × the usual pass, the worst {worst:.1} ×") })
}
