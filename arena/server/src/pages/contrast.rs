//! The contrast of every pair of colours in the style sheet, computed from its source.
//!
//! Each rule is read. An ink is held against the ground of its own rule, or against every ground a rule
//! without one may stand on; lines and areas likewise. Text needs 5 to 1, parts of the interface 3 to 1.

use std::collections::BTreeMap;

const TEXT: f64 = 5.0;
const PART: f64 = 3.0;
/// What ordinary text may stand on.
const GROUNDS: [&str; 2] = ["--page", "--surface"];
/// These only divide or tint; nothing has to be told by them.
const DECORATION: [&str; 3] = ["--line", "--hatch", "--heat-"];
/// Text that is drawn onto an area of another rule.
const DRAWN_ON: [(&str, &str); 5] = [
    (".on-order", "--order"),
    (".on-appeal", "--appeal"),
    (".on-accepted", "--page"),
    (".on-pending", "--page"),
    (".on-plain", "--surface"),
];

#[derive(Debug)]
struct Rule {
    selector: String,
    declarations: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Sheet {
    light: BTreeMap<String, [u8; 3]>,
    dark: BTreeMap<String, [u8; 3]>,
    rules: Vec<Rule>,
}

fn sheet() -> Sheet {
    let source = include_str!("../../assets/style.css");
    let mut plain = String::new();
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut sheet = Sheet::default();
    read(&plain, "", &mut sheet);
    // What the dark page does not name again stays as it is.
    let inherited: Vec<_> = sheet.light.iter().map(|(name, colour)| (name.clone(), *colour)).collect();
    for (name, colour) in inherited {
        sheet.dark.entry(name).or_insert(colour);
    }
    sheet
}

/// Rules within at-rules are read like the others; `:root` within the dark one names the dark colours.
fn read(mut text: &str, media: &str, sheet: &mut Sheet) {
    while let Some((prelude, rest)) = text.split_once('{') {
        let mut depth = 1;
        let end = rest.char_indices().find(|(_, it)| {
            depth += i32::from(*it == '{') - i32::from(*it == '}');
            depth == 0
        });
        let end = end.map(|(at, _)| at).expect("every brace is closed");
        let (body, after) = (&rest[..end], &rest[end + 1..]);
        let selector = prelude.trim();
        if selector.starts_with('@') {
            read(body, selector, sheet);
        } else {
            rule(selector, body, media, sheet);
        }
        text = after;
    }
}

fn rule(selector: &str, body: &str, media: &str, sheet: &mut Sheet) {
    let declarations: Vec<_> = body
        .split(';')
        .filter_map(|it| it.split_once(':'))
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect();
    if selector == ":root" {
        let colours = if media.contains("dark") { &mut sheet.dark } else { &mut sheet.light };
        colours.extend(declarations.into_iter().filter_map(|(name, value)| Some((name, hex(&value)?))));
    } else {
        sheet.rules.push(Rule { selector: selector.to_owned(), declarations });
    }
}

fn hex(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some([byte(0)?, byte(2)?, byte(4)?])
}

/// As WCAG 2.2 defines it.
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let luminance = |colour: [u8; 3]| {
        let [r, g, b] = colour.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn variable(value: &str) -> Option<&str> {
    let (_, after) = value.split_once("var(")?;
    after.split(')').next()
}

/// Each pair a rule makes: ink, grounds, what it needs.
fn pairs(rule: &Rule) -> Vec<(String, Vec<String>, f64)> {
    let get = |name: &str| {
        rule.declarations.iter().find(|(it, _)| it == name).and_then(|(_, value)| variable(value))
    };
    let drawn = DRAWN_ON.iter().find(|(class, _)| rule.selector.contains(class)).map(|(_, ground)| *ground);
    let own = get("background").or(drawn);
    let grounds: Vec<String> = match own {
        Some(ground) => vec![ground.to_owned()],
        None => GROUNDS.map(str::to_owned).into(),
    };
    // What surrounds a thing is the page, whatever its own ground is.
    let around = GROUNDS.map(str::to_owned).to_vec();
    let is_text = rule.selector.contains("text");
    let mut pairs = Vec::new();
    for (name, value) in &rule.declarations {
        let Some(ink) = variable(value) else { continue };
        let decoration = DECORATION.iter().any(|it| ink.starts_with(it)) && ink != "--heat-ink";
        match &**name {
            "color" => pairs.push((ink.to_owned(), grounds.clone(), TEXT)),
            "fill" if ink == "--heat-ink" => {
                pairs.push((ink.to_owned(), (0..6).map(|i| format!("--heat-{i}")).collect(), TEXT));
            }
            "fill" if is_text => pairs.push((ink.to_owned(), grounds.clone(), TEXT)),
            // An area in the colour of the page, or one with an edge of its own, is told by its edge.
            "fill" if GROUNDS.contains(&ink) || decoration || get("stroke").is_some() => {}
            "border"
            | "border-color"
            | "border-left-color"
            | "border-bottom-color"
            | "border-bottom"
            | "border-left"
            | "border-top"
            | "outline"
            | "stroke"
            | "fill"
            | "box-shadow"
            | "accent-color"
                if !decoration =>
            {
                pairs.push((ink.to_owned(), around.clone(), PART));
            }
            _ => {}
        }
    }
    pairs
}

#[test]
fn every_pair_of_colours_has_contrast_in_light_and_dark() {
    let sheet = sheet();
    let mut least = BTreeMap::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for rule in &sheet.rules {
        for (ink, grounds, needed) in pairs(rule) {
            for (scheme, colours) in [("light", &sheet.light), ("dark", &sheet.dark)] {
                for ground in &grounds {
                    let colour =
                        |name: &str| *colours.get(name).unwrap_or_else(|| panic!("{name} has no colour"));
                    let ratio = contrast(colour(&ink), colour(ground));
                    count += 1;
                    let entry = least.entry((scheme, needed as u8)).or_insert(f64::MAX);
                    *entry = entry.min(ratio);
                    if ratio < needed {
                        faults.push(format!(
                            "{scheme}: {} {{ {ink} on {ground} }} has {ratio:.2}, not {needed}",
                            rule.selector
                        ));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 400, "only {count} pairs were found; is the sheet still read?");
}

#[test]
fn the_meanings_have_their_colours() {
    let sheet = sheet();
    for (name, colour, ground, least) in [
        ("--on-order", "#FFFFFF", "--order", 6.5),
        ("--on-order-tint", "#7A271A", "--order-tint", 8.1),
        ("--on-appeal", "#1F1300", "--appeal", 11.2),
        ("--on-appeal-tint", "#713B12", "--appeal-tint", 8.2),
        ("--accepted", "#054F31", "--page", 9.6),
        ("--pending", "#344054", "--page", 10.4),
    ] {
        assert_eq!(sheet.light[name], hex(colour).unwrap(), "{name}");
        let ratio = contrast(sheet.light[name], sheet.light[ground]);
        assert!(ratio >= least, "{name} on {ground}: {ratio:.2}");
    }
    assert_eq!(sheet.light["--order"], hex("#B42318").unwrap());
    assert_eq!(sheet.light["--appeal"], hex("#FAC515").unwrap());
    for (name, colour, least) in
        [("--danger", "#FDA29B", 9.6), ("--appeal", "#FDE272", 14.5), ("--link", "#84ADFF", 8.3)]
    {
        assert_eq!(sheet.dark[name], hex(colour).unwrap(), "{name}");
        assert!(contrast(sheet.dark[name], sheet.dark["--page"]) >= least, "{name}");
    }
    assert_eq!(sheet.dark["--page"], hex("#0C111D").unwrap());
}

#[test]
fn a_colour_is_named_once_and_used_by_its_name() {
    let sheet = sheet();
    for rule in &sheet.rules {
        for (name, value) in &rule.declarations {
            let literal = value.contains('#') || value.contains("rgb") || value.contains("hsl");
            assert!(!literal, "{} has {name}: {value}", rule.selector);
        }
    }
    let light: Vec<_> = sheet.light.keys().collect();
    assert_eq!(light, sheet.dark.keys().collect::<Vec<_>>(), "a colour has a name in one scheme only");
    let source = include_str!("../../assets/style.css");
    for name in light {
        assert!(source.contains(&format!("var({name})")), "{name} is not used");
    }
}

#[test]
fn red_and_yellow_are_kept_for_their_meanings() {
    let hue = |[r, g, b]: [u8; 3]| {
        let (r, g, b) = (f64::from(r), f64::from(g), f64::from(b));
        let (high, low) = (r.max(g).max(b), r.min(g).min(b));
        (high - low > 60.0).then(|| match high {
            _ if high == r => ((g - b) / (high - low)).rem_euclid(6.0) * 60.0,
            _ if high == g => ((b - r) / (high - low) + 2.0) * 60.0,
            _ => ((r - g) / (high - low) + 4.0) * 60.0,
        })
    };
    let sheet = sheet();
    for (name, colour) in sheet
        .light
        .iter()
        .chain(&sheet.dark)
        .filter(|(name, _)| name.starts_with("--series") || name.starts_with("--heat"))
    {
        if let Some(hue) = hue(*colour) {
            assert!((75.0..330.0).contains(&hue), "{name} is red or yellow: {hue:.0}°");
        }
    }
}
