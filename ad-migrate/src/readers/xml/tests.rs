use crate::readers::{
    Settings,
    testing::{read, read_with, refused},
};

#[test]
fn paths_stand_below_the_record() {
    let seen = read(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<lager skapad=\"x\" xmlns:b=\"urn:b\">\n <b:fordon id=\"L1\"><regnr>ABC123</regnr>\n<matarstallning \
         enhet=\"mil\">12 &amp; 3</matarstallning><utrustning><rad>Drag</rad><rad>Räls</rad></utrustning><text><![CDATA[<b>Fin</b>]]> &#229;</text>\
         <bilder><bild url=\"a&amp;b\"/><bild url=\"c\"/></bilder></b:fordon>\n <b:fordon id=\"L2\"><regnr/><utrustning></utrustning></b:fordon>\n</lager>\n",
    );
    assert_eq!(
        seen.rows,
        [
            "1@3 @id=L1; regnr=ABC123; matarstallning/@enhet=mil; matarstallning=12 & 3; utrustning/rad=Drag; utrustning/rad=Räls; \
             text=<b>Fin</b> å; bilder/bild/@url=a&b; bilder/bild/@url=c",
            "2@5 @id=L2; regnr=; utrustning=",
        ]
    );
    assert_eq!(seen.reader.detected().rows.as_deref(), Some("lager/fordon"));
    assert!(seen.error.is_none());
}

#[test]
fn the_declaration_says_the_encoding() {
    let seen =
        read(b"<?xml version='1.0' encoding='ISO-8859-1'?><l><f><a>R\xf6d</a><b>1</b></f><f><a>x</a><b>2</b></f></l>");
    assert_eq!(seen.rows[0], "1@1 a=Röd; b=1");
    assert_eq!(seen.reader.detected().encoding, "iso-8859-1");
}

#[test]
fn entities_meant_to_explode_are_refused() {
    let text = "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><l><f><x>&b;</x><y>1</y></f><f><x>2</x></f></l>";
    let error = read(text).error.unwrap().to_string();
    assert!(error.starts_with("The XML declares entities of its own"), "{error}");
}

#[test]
fn a_bad_record_is_told_and_the_next_one_is_read() {
    let seen = read(
        "<l><f><a>1 &nbsp; 2</a><b>x</b></f>\n<f><a>1 & 2</a><b>y</b></f>\n<f><a>1</b></a><c>z</c></f>\n<f><a>1<b>2</f>\n<f><a>5</a><b>v</b></f></l>",
    );
    assert_eq!(
        seen.rows,
        [
            "1@1 a=1 &nbsp; 2; b=x; !an unknown entity",
            "2@2 a=1 & 2; b=y; !a bare & in a text",
            "3@3 !tags that do not match",
            "4@4 !tags that do not match",
            "5@5 a=5; b=v",
        ]
    );
}

#[test]
fn a_file_that_has_been_cut_off_ends_with_an_error_behind_its_rows() {
    let seen = read("<l><f><a>1</a><b>2</b></f>\n<f><a>3</a><b>4</b></f>\n<f><a>5</a><b>6");
    assert_eq!(seen.rows, ["1@1 a=1; b=2", "2@2 a=3; b=4"]);
    assert_eq!(seen.error.unwrap().to_string(), "The file ends in line 3 within <f>: it has been cut off.");
}

#[test]
fn rows_can_be_set_for_several_elements() {
    let settings = Settings { rows: Some("l/*".to_owned()), ..Settings::default() };
    let seen = read_with("<l><bil><a>1</a></bil><mc><a>2</a></mc></l>", &settings);
    assert_eq!(seen.rows, ["1@1 a=1", "2@1 a=2"]);
}

#[test]
fn a_page_is_no_stock() {
    assert!(refused(b"<!doctype html><html><body>Login</body></html>").contains("an HTML page"));
}
