use std::fs;

use super::*;

fn two_files() -> Vec<(String, String)> {
    [("Cargo.toml", "one"), ("src/deep/lib.rs", "two")].map(|(a, b)| (a.to_owned(), b.to_owned())).into()
}

#[test]
fn a_project_is_made_where_nothing_or_an_empty_folder_is() {
    let around = tempfile::tempdir().expect("a folder");
    let (new, empty) = (around.path().join("a/b/new"), around.path().join("empty"));
    fs::create_dir(&empty).expect("a folder");
    for folder in [&new, &empty] {
        create(folder, &two_files()).expect("it is made");
        assert_eq!(fs::read_to_string(folder.join("src/deep/lib.rs")).expect("it is there"), "two");
    }
    assert_eq!(fs::read_dir(around.path()).expect("a folder").count(), 2, "nothing else is left");
}

#[test]
fn what_is_in_the_way_stays_as_it_is() {
    let around = tempfile::tempdir().expect("a folder");
    let (file, full) = (around.path().join("file"), around.path().join("full"));
    fs::write(&file, "mine").expect("written");
    fs::create_dir(&full).expect("a folder");
    fs::write(full.join("mine"), "mine").expect("written");
    for (folder, why) in
        [(&file, "is no folder"), (&full, "is not empty"), (&file.join("x"), "not a directory")]
    {
        let failure = create(folder, &two_files()).expect_err("it is in the way");
        assert_eq!(failure.exit(), Exit::Usage);
        assert!(failure.message().contains(why), "{}", failure.message());
    }
    assert_eq!(fs::read_dir(&full).expect("a folder").count(), 1);
    assert_eq!(fs::read_dir(around.path()).expect("a folder").count(), 2);
}

#[test]
fn a_project_that_cannot_be_finished_leaves_nothing() {
    let around = tempfile::tempdir().expect("a folder");
    let folder = around.path().join("new");
    let mut files = two_files();
    // A file below another file cannot be written.
    files.push(("Cargo.toml/x".to_owned(), String::new()));
    assert!(create(&folder, &files).is_err());
    assert_eq!(fs::read_dir(around.path()).expect("a folder").count(), 0);
}
