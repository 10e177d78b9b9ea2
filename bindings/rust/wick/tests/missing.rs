//! A program whose library is missing starts, and hears of it from `Device::open`. Run with WICK_LIB set to no library.

#[test]
#[ignore = "needs the feature dlopen, and WICK_LIB set to a path without a library"]
fn a_missing_library_is_an_error() {
    let error = wick::Device::open("cpu").expect_err("there is no library to open it with");
    assert_eq!(error.status(), wick::Status::Device);
    assert!(error.to_string().contains("/proc/self/none/library.so"), "{error}");
    assert!(wick::Device::list().is_empty());
}
