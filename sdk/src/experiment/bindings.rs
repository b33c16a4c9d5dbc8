//! What wit-bindgen makes of `wit/experiment`: the contract's types and the functions that cross the
//! border. Nothing here is written by hand, and authors see it only through [`experiment`](super).

wit_bindgen::generate!({
    path: "../wit/experiment",
    world: "experiment",
    additional_derives: [PartialEq],
    pub_export_macro: true,
    export_macro_name: "export_run",
});
