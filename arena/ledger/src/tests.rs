use proptest::prelude::{ProptestConfig, prop, prop_assert, prop_assert_eq, proptest};

use crate::{
    Account, Amount, Asset, Ledger, POSTINGS_MAX, Posting, Refusal, Stake, Transaction, apply, deposit, hold,
    pay_out, release, slash, transfer,
};

fn asset(name: &str) -> Asset {
    Asset::new(name).expect("a name")
}

fn amount(units: u64) -> Amount {
    Amount::new(units).expect("an amount")
}

fn avail(agent: &str) -> Account {
    Account::avail(&asset("usd"), agent).expect("a name")
}

fn check(ledger: &mut Ledger, transaction: &Transaction, want: Result<(), &str>) {
    let before = ledger.clone();
    let got = apply(ledger, transaction).map_err(|refusal| refusal.to_string());
    assert_eq!(got, want.map_err(str::to_owned));
    if got.is_err() {
        assert_eq!(*ledger, before, "a refused transaction leaves no trace");
    }
}

#[test]
fn a_stake_is_held_slashed_and_released() {
    let mut ledger = Ledger::new();
    let stake = Stake::of(&asset("usd"), "j", "runner", "amy").expect("names");
    check(&mut ledger, &deposit(&avail("amy"), amount(5_000)), Ok(()));
    check(&mut ledger, &hold(&stake, amount(4_000)), Ok(()));
    check(&mut ledger, &hold(&stake, amount(4_000)), Err("avail:amy of usd has 1000; 4000 are needed"));
    check(&mut ledger, &slash(&stake, amount(1_000)), Ok(()));
    check(
        &mut ledger,
        &release(&stake, amount(3_001)),
        Err("lock:j:runner:amy of usd has 3000; 3001 are needed"),
    );
    check(&mut ledger, &release(&stake, amount(3_000)), Ok(()));
    let treasury = Account::treasury(&asset("usd"));
    check(&mut ledger, &transfer(stake.bucket(), &treasury, amount(1_000)), Ok(()));
    check(&mut ledger, &pay_out(&avail("amy"), amount(4_000)), Ok(()));
    assert_eq!(ledger.balance(&treasury), amount(1_000));
    assert_eq!(ledger.signed_balance(&Account::external(&asset("usd"))), -1_000);
    assert_eq!(ledger.balance(&Account::external(&asset("usd"))), Amount::ZERO);
    assert_eq!(ledger.sum(&asset("usd")), 0);
}

#[test]
fn what_is_unsound_in_itself_is_refused() {
    let mut ledger = Ledger::new();
    check(&mut ledger, &Transaction::default(), Err("the transaction moves nothing"));
    check(
        &mut ledger,
        &transfer(&avail("a"), &avail("b"), Amount::ZERO),
        Err("the transaction moves nothing"),
    );
    let one_sided = Transaction::of(vec![Posting { account: avail("a"), change: 7 }]);
    check(&mut ledger, &one_sided, Err("the postings of usd add up to 7, not to 0"));
    let across = Transaction::of(vec![
        Posting { account: Account::external(&asset("usd")), change: -7 },
        Posting { account: Account::avail(&asset("eur"), "a").expect("a name"), change: 7 },
    ]);
    check(&mut ledger, &across, Err("the postings of eur add up to 7, not to 0"));
    let mut long = deposit(&avail("a"), amount(1));
    for _ in 0..POSTINGS_MAX / 2 {
        long.push(&avail("a"), &avail("b"), amount(1));
    }
    check(&mut ledger, &long, Err("the transaction has 4098 postings; the limit is 4096"));
}

#[test]
fn nothing_grows_beyond_the_largest_amount() {
    let mut ledger = Ledger::new();
    check(&mut ledger, &deposit(&avail("a"), Amount::MAX), Ok(()));
    let more = deposit(&avail("a"), amount(1));
    assert!(matches!(apply(&mut ledger, &more), Err(Refusal::OutOfRange { .. })));
    let lowest = Transaction::of(vec![
        Posting { account: Account::external(&asset("eur")), change: i64::MIN },
        Posting { account: Account::avail(&asset("eur"), "a").expect("a name"), change: i64::MAX },
        Posting { account: Account::avail(&asset("eur"), "b").expect("a name"), change: 1 },
    ]);
    assert!(matches!(apply(&mut ledger, &lowest), Err(Refusal::OutOfRange { .. })));
}

#[test]
fn only_the_net_of_a_transaction_counts() {
    let mut ledger = Ledger::new();
    let through = transfer(&avail("b"), &avail("c"), amount(5)).and(
        &Account::external(&asset("usd")),
        &avail("b"),
        amount(5),
    );
    check(&mut ledger, &through, Ok(()));
    assert_eq!(ledger.balance(&avail("c")), amount(5));
}

#[test]
fn a_stale_version_is_refused() {
    let mut ledger = Ledger::new();
    check(&mut ledger, &deposit(&avail("a"), amount(10)), Ok(()));
    let version = ledger.version(&avail("a"));
    let pay = transfer(&avail("a"), &avail("b"), amount(5)).expecting(avail("a"), version);
    check(&mut ledger, &pay, Ok(()));
    check(&mut ledger, &pay, Err("avail:a of usd is at version 2; the transaction was made for version 1"));
}

#[test]
fn transactions_read_back_and_other_spellings_are_refused() {
    let transaction = deposit(&avail("a"), Amount::MAX).expecting(avail("a"), 3);
    let json = serde_json::to_string(&transaction).expect("written");
    assert_eq!(
        json,
        r#"{"postings":[["usd","external:usd","-9223372036854775807"],["usd","avail:a","9223372036854775807"]],"expected":[["usd","avail:a","3"]]}"#
    );
    assert_eq!(serde_json::from_str::<Transaction>(&json).expect("read"), transaction);
    for wrong in [
        r#"{"postings":[["usd","avail:a","+1"]]}"#,
        r#"{"postings":[["usd","avail:a",1]]}"#,
        r#"{"postings":[["usd","avail::a","1"]]}"#,
        r#"{"postings":[],"memo":"x"}"#,
    ] {
        assert!(serde_json::from_str::<Transaction>(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// Whatever is tried, money is neither made nor lost, nobody is below zero, and a replay of what
    /// was accepted gives the same ledger.
    #[test]
    fn random_histories_conserve_and_replay(
        steps in prop::collection::vec((0usize..7, 0usize..7, 0u64..40, prop::bool::ANY), 0..120),
    ) {
        let accounts = |asset: &Asset| {
            let named = ["a", "b", "c", "d", "e"].map(|name| Account::avail(asset, name).expect("a name"));
            let mut all = vec![Account::external(asset), Account::treasury(asset)];
            all.extend(named);
            all
        };
        let both = [accounts(&asset("usd")), accounts(&asset("eur"))];
        let mut ledger = Ledger::new();
        let mut accepted = Vec::new();
        for (from, to, units, second) in steps {
            let names = &both[usize::from(second)];
            let transaction = transfer(&names[from], &names[to], amount(units));
            let before = ledger.clone();
            match apply(&mut ledger, &transaction) {
                Ok(()) => accepted.push(transaction),
                Err(_) => prop_assert_eq!(&ledger, &before),
            }
            for asset in ["usd", "eur"] {
                prop_assert_eq!(ledger.sum(&asset_of(asset)), 0);
            }
            for (account, balance) in ledger.accounts() {
                prop_assert!(balance >= 0 || account.may_be_negative());
            }
        }
        let mut again = Ledger::new();
        for transaction in &accepted {
            prop_assert_eq!(apply(&mut again, transaction), Ok(()));
        }
        prop_assert_eq!(again, ledger);
    }
}

fn asset_of(name: &str) -> Asset {
    asset(name)
}
