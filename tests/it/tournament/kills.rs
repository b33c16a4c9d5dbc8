//! Killed anywhere, as often as you like: what was recorded is kept, and the end is the same.

use std::time::Duration;

use super::{Plan, differences, ended, files, said};

/// Kills of the whole test.
const KILLS: u32 = 200;

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_if_it_had_not_been() {
    let plan = Plan::small();
    ended(&plan.run("calm", &[]), 0);
    let expected = files(&plan.at("calm"));
    let mut luck = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut kills, mut runs) = (0, 0);
    while kills < KILLS {
        runs += 1;
        let out = format!("stormy-{runs}");
        let mut begun = false;
        loop {
            luck = luck.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let moment = Duration::from_millis((luck >> 33) % 250);
            let args: &[&str] = if begun {
                &["tournament", "resume", &out, "--workers", "2"]
            } else {
                &[
                    "tournament",
                    "run",
                    "plan.toml",
                    "--secret",
                    "given-secret",
                    "--out",
                    &out,
                    "--workers",
                    "2",
                ]
            };
            let mut run = plan.command(args).spawn().expect("the binary starts");
            std::thread::sleep(moment);
            let over = run.try_wait().expect("its state").is_some();
            run.kill().expect("killed");
            let output = run.wait_with_output().expect("it ends");
            if over {
                ended(&output, 0);
                assert_eq!(
                    differences(&expected, &files(&plan.at(&out))),
                    [""; 0],
                    "{out}: {}",
                    said(&output)
                );
                break;
            }
            kills += 1;
            begun = begun_in(&plan, &out);
        }
    }
    assert!(runs > 3, "{kills} kills in {runs} runs");
}

/// Whether the folder holds everything a run is resumed with.
fn begun_in(plan: &Plan, out: &str) -> bool {
    plan.at(out).join("frozen.json").exists()
}
