//! Statistics of a series of prices: an experiment over a pinned CSV, in integers alone.
//!
//! Arguments: `input`, the file; `column`, the name of the column with the prices. Prices have at most two
//! digits behind the point and are calculated with in hundredths.

use arena_sdk::experiment::{Experiment, Report, Run};
use arena_sdk::info;

/// Count, extremes, mean, median, variance, and the prices in order as an output.
pub struct PriceStatistics;

impl Experiment for PriceStatistics {
    fn run(run: &mut Run) -> Result<Report, String> {
        let (input, column): (String, String) = (run.argument("input")?, run.argument("column")?);
        let text = run.input_text(&input)?;
        let rows = read(&text, &column)?;
        let Some(highest) = rows.iter().max_by_key(|row| row.cents) else {
            return Err(format!("`{input}` has no rows"));
        };
        info!("{} prices of `{input}`, the highest at {}", rows.len(), highest.at);
        let mut sorted: Vec<i128> = rows.iter().map(|row| row.cents).collect();
        sorted.sort_unstable();
        for cents in &sorted {
            run.output("sorted.txt", format!("{cents}\n"));
        }
        let n = sorted.len() as i128;
        let sum: i128 = sorted.iter().sum();
        let squares: i128 = sorted.iter().map(|cents| cents * cents).sum();
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Ok(Report::new()
            .int("rows", n as i64)
            .int("negative", sorted.iter().filter(|cents| **cents < 0).count() as i64)
            .decimal("min", sorted[0], 100, 2)
            .decimal("max", highest.cents, 100, 2)
            .text_of("max_at", highest.at)
            .decimal("mean", sum, 100 * n, 4)
            .decimal("median", low + high, 200, 3)
            // The mean of the squares less the square of the mean.
            .decimal("variance", n * squares - sum * sum, 10_000 * n * n, 4)
            .hash("sorted", "sorted.txt"))
    }
}

arena_sdk::export_experiment!(PriceStatistics);

struct Row<'t> {
    /// The first column, as it is written.
    at: &'t str,
    cents: i128,
}

/// The rows of a CSV. Only columns before the first quote can be read, which is where prices are.
fn read<'t>(text: &'t str, column: &str) -> Result<Vec<Row<'t>>, String> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let place = header.split(',').position(|name| name == column);
    let place = place.ok_or_else(|| format!("the header has no column `{column}`: {header}"))?;
    lines
        .enumerate()
        .map(|(i, line)| {
            let plain = line.split('"').next().unwrap_or_default();
            let mut cells = plain.split(',');
            let at = cells.clone().next().unwrap_or_default();
            let price = cells.nth(place).unwrap_or_default();
            let cents = cents(price).ok_or_else(|| format!("row {}: `{price}` is no price", i + 1))?;
            Ok(Row { at, cents })
        })
        .collect()
}

/// `-12.3` as -1230.
fn cents(price: &str) -> Option<i128> {
    let unsigned = price.strip_prefix('-').unwrap_or(price);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || fraction.len() > 2 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let cents: i128 = format!("{whole}{fraction:0<2}").parse().ok()?;
    Some(if unsigned.len() < price.len() { -cents } else { cents })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::experiment::testing;

    const SHIPPED: &str = include_str!("../inputs/de_lu_da_2024-12-11_12.csv");

    fn run(text: &str) -> (Result<Report, String>, testing::Outputs) {
        let bench = testing::bench().argument("input", "prices.csv").argument("column", "price");
        bench.input("prices.csv", text).run::<PriceStatistics>()
    }

    #[test]
    fn four_prices_by_hand() {
        let (report, outputs) = run("hour,price,source\na,1.5,\"x, y\"\nb,-2,z\nc,10.25,z\nd,0.00,z\n");
        let report = report.expect("it measures");
        for (name, text) in [
            ("rows", "4"),
            ("negative", "1"),
            ("min", "-2.00"),
            ("max", "10.25"),
            ("max_at", "c"),
            // 9.75 / 4
            ("mean", "2.4375"),
            ("median", "0.750"),
            // (2.25 + 4 + 105.0625) / 4 - 2.4375²
            ("variance", "21.8867"),
        ] {
            assert_eq!(report.text(name).as_deref(), Some(text), "{name}");
        }
        assert_eq!(outputs["sorted.txt"], b"-200\n0\n150\n1025\n");
    }

    #[test]
    fn the_shipped_series_peaks_at_936() {
        let bench = testing::bench().argument("input", "p").argument("column", "price_eur_per_mwh");
        let report = bench.input("p", SHIPPED).run::<PriceStatistics>().0.expect("it measures");
        let texts = ["rows", "max", "max_at"].map(|name| report.text(name).unwrap_or_default());
        assert_eq!(texts, ["48", "936.28", "2024-12-12T17:00:00+01:00"]);
    }

    #[test]
    fn what_is_no_price_is_named() {
        for wrong in ["", "1.234", "1,5", "1e3", "--1", "+1", ".5", "x"] {
            let why = run(&format!("hour,price\na,\"{wrong}\"\n")).0.expect_err("no price");
            assert!(why.starts_with("row 1: "), "{why}");
            assert_eq!(cents(wrong), None, "{wrong}");
        }
        assert!(run("hour,cost\na,1\n").0.expect_err("no column").contains("`price`"));
        assert!(run("hour,price\n").0.expect_err("no rows").contains("no rows"));
    }
}
