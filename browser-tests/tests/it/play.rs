//! A person comes by and plays, with scripts and without.

use arena_browser_tests::{Browser, Driver, Scripts, Served};

const TURNS: u32 = 24;

/// Joins, asks for too much, acts on two more turns, and leaves the others as the form has them.
fn play(browser: &Browser<'_>) {
    browser.go("/play");
    browser.click("input[name=pack][value^=\"two-spikes/\"]");
    browser.click("form button[type=submit]");
    browser.wait("no episode begins", |browser| browser.path().starts_with("/play/e"));
    assert!(browser.text("main").contains("What is scored"), "the brief is shown");
    let turn = |turn: u32| format!("Turn {turn} of {}", TURNS - 1);
    for at in 0..TURNS {
        browser.wait("a turn does not come", |browser| browser.text("main").contains(&turn(at)));
        if at == 1 {
            let told = browser.text("main");
            assert!(told.contains("changed what you asked") && told.contains("became"), "{told}");
        }
        match at {
            // The limits of the fields are those of each alone: all of them at once are more than there is use for.
            0 => {
                for name in ["curtail_mw", "battery_mw", "diesel_mw"] {
                    let field = format!("#act input[name={name}]");
                    browser.fill(&field, &browser.attribute(&field, "max"));
                }
            }
            1 => browser.fill("#act input[name=curtail_mw]", "1.5"),
            _ => {}
        }
        browser.click("#act button[type=submit]");
    }
    browser.wait("it does not end", |browser| browser.text("main").contains("Settlement"));
}

#[test]
fn a_person_plays_an_episode_to_its_end() {
    let Some(driver) = Driver::start("a_person_plays_an_episode_to_its_end") else { return };
    let served = Served::start(&[]);
    let browser = Browser::open(&driver, &served.url, Scripts::Allowed);
    play(&browser);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_person_without_scripts_plays_the_same() {
    let Some(driver) = Driver::start("a_person_without_scripts_plays_the_same") else { return };
    let served = Served::start(&[]);
    let browser = Browser::open(&driver, &served.url, Scripts::Forbidden);
    play(&browser);
}
