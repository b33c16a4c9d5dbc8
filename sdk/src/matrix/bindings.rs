//! What wit-bindgen makes of `wit/matrix`: the contract's types and the functions that cross the
//! border. Nothing here is written by hand, and authors see it only through [`matrix`](super).

wit_bindgen::generate!({
    path: "../wit/matrix",
    world: "matrix-strategy",
    additional_derives: [PartialEq],
    pub_export_macro: true,
    export_macro_name: "export_player",
});
