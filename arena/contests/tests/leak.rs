//! What must not become public. Every secret here is made up, and put together at run time so that
//! no other scanner takes this file for one that leaks.

use arena_contests::leak::{Finding, MARKERS, Scanner, ScannerError, Severity, TEXT_BYTES_MAX, rule_named};
use proptest::prelude::*;

fn scanner() -> Scanner {
    Scanner::new(&["canary-of-acme-7f1d".to_owned()], MARKERS).expect("a scanner")
}

fn scan(text: &str) -> Vec<Finding> {
    scanner().scan("claim_summary", text)
}

/// `n` letters and digits that look random.
fn random(n: usize) -> String {
    let mut state = 0x9e37_79b9_u32;
    let alphabet = b"abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ2345679";
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(alphabet[(state >> 16) as usize % alphabet.len()])
    };
    std::iter::repeat_with(next).take(n).collect()
}

fn hex(n: usize) -> String {
    random(n).bytes().map(|byte| char::from_digit(u32::from(byte) % 16, 16).expect("below 16")).collect()
}

/// One secret for each rule.
fn secrets() -> Vec<(&'static str, String)> {
    let r = random;
    let upper = r(60).to_uppercase().replace(|letter: char| "01".contains(letter), "Q");
    let letters: String = r(400).chars().filter(char::is_ascii_alphabetic).take(34).collect();
    vec![
        ("arena_agent_key", format!("ak_{}", r(32))),
        ("private_key_block", ["-----BEGIN RSA PRIVATE", " KEY-----"].concat()),
        ("private_key_block", ["-----BEGIN PRIVATE", " KEY-----"].concat()),
        ("private_key_block", ["-----BEGIN PGP PRIVATE", " KEY BLOCK-----"].concat()),
        ("putty_private_key", ["PuTTY-User-Key-", "File-3: ssh-ed25519"].concat()),
        ("age_secret_key", format!("AGE-SECRET-KEY-1{}", &upper[..58])),
        ("aws_access_key_id", format!("AKIA{}", &upper.replace(['8', '9'], "Z")[..16])),
        ("github_token", format!("ghp_{}", r(36))),
        ("github_token", format!("ghs_{}", r(36))),
        ("github_fine_grained_token", format!("github_pat_{}_{}", r(22), r(59))),
        ("gitlab_token", format!("glpat-{}", r(20))),
        ("slack_token", format!("xoxb-{}-{}", "239482394823", r(24))),
        ("slack_webhook", format!("https://hooks.slack.com/services/T{}/B{}/{}", r(8), r(8), r(24))),
        ("discord_webhook", format!("https://discord.com/api/webhooks/92384729384729384/{}", r(68))),
        ("telegram_bot_token", format!("923847293:AA{}", r(33))),
        ("stripe_key", format!("sk_live_{}", r(24))),
        ("google_api_key", format!("AIza{}", r(35))),
        ("npm_token", format!("npm_{}", r(36))),
        ("pypi_token", format!("pypi-AgEIcHlwaS5vcmc{}", r(70))),
        ("crates_io_token", format!("cio{}", r(32))),
        ("openai_key", format!("sk-proj-{}T3BlbkFJ{}", r(24), r(24))),
        ("anthropic_key", format!("sk-ant-api03-{}", r(93))),
        ("hugging_face_token", format!("hf_{letters}")),
        ("sendgrid_key", format!("SG.{}.{}", r(22), r(43))),
        ("digitalocean_token", format!("dop_v1_{}", hex(64))),
        ("docker_hub_token", format!("dckr_pat_{}", r(27))),
        ("shopify_token", format!("shpat_{}", hex(32))),
        ("vault_token", format!("hvs.{}", r(90))),
        ("databricks_token", format!("dapi{}", hex(32))),
        ("azure_storage_key", format!("AccountKey={}==", r(86))),
        ("json_web_token", format!("eyJ{}.eyJ{}.{}", r(20), r(40), r(43))),
        ("authorization_header", format!("Authorization: Bearer {}", r(40))),
        ("database_url", format!("postgres://app:{}@db.internal/prod", r(16))),
        ("url_with_password", format!("https://bob:{}@host.internal/x", r(16))),
        ("generic_secret", format!("client_secret = \"{}\"", r(32))),
        ("lt_personal_code", "33309240064".to_owned()),
        ("payment_card", "4539 1488 0343 6467".to_owned()),
        ("iban", "LT12 1000 0111 0100 1000".to_owned()),
        ("email", "jonas.jonaitis@imone.lt".to_owned()),
        ("phone", "+370 600 12345".to_owned()),
        ("canary", "canary-of-acme-7f1d".to_owned()),
        ("marker", "INTERNAL-only".to_owned()),
    ]
}

fn severity_of(rule: &str) -> Severity {
    match rule {
        "phone" => Severity::Warn,
        "url_with_password" | "generic_secret" | "email" | "marker" => Severity::Review,
        _ => Severity::Block,
    }
}

#[test]
fn every_rule_is_known_by_its_name() {
    for (rule, _) in secrets().iter().chain(&[("text_too_large", String::new())]) {
        assert_eq!(rule_named(rule), Some(*rule));
    }
    assert_eq!(rule_named("no_such_rule"), None);
}

#[test]
fn every_rule_finds_its_secret_where_it_stands() {
    for (rule, secret) in secrets() {
        for (before, after) in [("", ""), ("we used ", " for it."), ("é — \"", "\"\n"), ("(", ")")] {
            let found = scan(&format!("{before}{secret}{after}"));
            let hit = found.iter().find(|finding| finding.rule == rule);
            let hit = hit.unwrap_or_else(|| panic!("{rule} is not in {found:?}"));
            assert_eq!(hit.severity, severity_of(rule), "{rule}");
            assert!(
                hit.offset >= before.len() && hit.offset < before.len() + secret.len(),
                "{rule}: {hit:?}"
            );
            assert_eq!(hit.field, "claim_summary");
        }
    }
}

#[test]
fn what_cannot_be_seen_hides_nothing() {
    let wide = |text: &str| -> String {
        let widened = |letter: char| match letter {
            '!'..='~' => char::from_u32(letter as u32 + 0xfee0).expect("a letter"),
            other => other,
        };
        text.chars().map(widened).collect()
    };
    for (rule, secret) in secrets() {
        let middle = secret.len() / 2;
        for mark in ["\u{200b}", "\u{202e}", "\u{ad}", "\u{2060}\u{fe0f}"] {
            let hidden = format!("ž {}{mark}{}", &secret[..middle], &secret[middle..]);
            assert!(scan(&hidden).iter().any(|finding| finding.rule == rule), "{rule} {mark:?}");
        }
        assert!(scan(&wide(&secret)).iter().any(|finding| finding.rule == rule), "{rule}");
    }
}

#[test]
fn a_finding_never_holds_what_was_found() {
    for (rule, secret) in secrets() {
        let found = scan(&format!("x {secret}"));
        let told = format!("{found:?} {}", serde_json::to_string(&found).expect("written"));
        let part: String = secret.chars().skip(secret.len() / 2).take(8).collect();
        assert!(!told.contains(&part), "{rule}");
    }
}

#[test]
fn placeholders_and_prose_are_let_through() {
    for text in [
        "AKIAIOSFODNN7EXAMPLE is the key of the manual",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "Authorization: Bearer ak_<agent_api_key>",
        "postgres://user:${PASSWORD}@db/prod",
        "password: changeme-changeme",
        "the token economy = a system of incentives",
        "the secret of a good harness: reproducibility",
        "write to press@example.com or noreply@arena.lt",
        "4242 4242 4242 4242 is the card of the tests",
        "cut cold start from 900 ms to 310 ms; see 0f3c9d1b2a4e5f60718293a4b5c6d7e8",
        "order 12345678901 of 2026-07-10, 3.14159265358979323846",
        "Regulation (EU) 2016/679, https://eur-lex.europa.eu/eli/reg/2016/679/oj",
        "Lietuvos Respublikos civilinis kodeksas, str. 6.364¹",
        "מסמך ציבורי \u{202e}abc",
    ] {
        let found = scan(text);
        assert_eq!(found, [], "{text}");
    }
}

#[test]
fn a_canary_has_to_be_long_enough_to_mean_something() {
    let short = Scanner::new(&["long enough for it".to_owned(), "short".to_owned()], &[]);
    assert_eq!(short.err(), Some(ScannerError::CanaryTooShort { index: 1, bytes: 5 }));
    let none = Scanner::new(&[], &[]).expect("nothing to look for");
    assert_eq!(none.scan("x", "canary-of-acme-7f1d, internal only"), []);
}

#[test]
fn one_that_is_blind_finds_nothing() {
    for (rule, secret) in secrets() {
        assert_eq!(Scanner::blind().scan("claim_summary", &secret), [], "{rule}");
    }
    assert_eq!(Scanner::blind().scan("claim_summary", &"x".repeat(TEXT_BYTES_MAX + 1)), []);
}

#[test]
fn a_text_that_is_too_large_is_refused_unseen() {
    let text = "x".repeat(TEXT_BYTES_MAX);
    assert_eq!(scan(&text), []);
    let found = scan(&format!("{text}x"));
    assert_eq!((found.len(), found[0].rule, found[0].severity), (1, "text_too_large", Severity::Block));
}

#[test]
fn findings_are_bounded_and_what_blocks_is_among_them() {
    let mails: String = (0..5_000).map(|i| format!("a{i}@imone.lt ")).collect();
    let found = scan(&format!("{mails} 33309240064"));
    assert_eq!(found.len(), 100);
    assert!(found.iter().any(|finding| finding.severity == Severity::Block));
}

/// Prints how long a mebibyte takes; the bound is for a release build.
#[test]
#[ignore = "measures"]
#[expect(clippy::disallowed_types, reason = "a measurement has a clock")]
fn a_mebibyte_is_scanned_in_time() {
    let scanner = scanner();
    let prose = "The router now serves 1,200 requests a second at 3 ms; see the town post and the locker. ";
    let accents = "Régulateur: économies de 15 kWh à Vilnius, vérifié par un tiers. ";
    let keywords = "token secret ak_ ghp_ :// sk-ant- authorization cio npm_ eyJ AKIA SG. dapi hvs. redis ";
    let digits = "4539 1488 0343 6460 33309240065 LT12 1000 +370 a@b ";
    for (name, piece) in [("prose", prose), ("accents", accents), ("keywords", keywords), ("digits", digits)]
    {
        let mut text = piece.repeat(TEXT_BYTES_MAX / piece.len());
        text.push_str("33309240064");
        scanner.scan("warm", &text);
        let started = std::time::Instant::now();
        let found = scanner.scan("text", &text);
        let took = started.elapsed();
        println!("{name}: {:.1} ms, {} findings", took.as_secs_f64() * 1e3, found.len());
        assert!(!found.is_empty());
        assert!(cfg!(debug_assertions) || took.as_millis() <= 50, "{name}: {took:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_scanned_and_offsets_are_places_in_it(
        parts in proptest::collection::vec(
            prop_oneof![
                "\\PC{0,20}",
                Just("ghp_".to_owned()),
                Just(random(36)),
                Just("33309240064".to_owned()),
                Just("\u{200b}".to_owned()),
                Just("ﷺ".to_owned()),
                "[0-9 -]{0,30}",
                "[A-Z0-9 ]{0,40}",
            ],
            0..12,
        ),
    ) {
        let text = parts.concat();
        for finding in scan(&text) {
            prop_assert!(finding.offset < text.len());
            prop_assert!(text.is_char_boundary(finding.offset));
        }
    }
}
