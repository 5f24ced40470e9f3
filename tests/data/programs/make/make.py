"""Bodies as Python makes them: python3 make.py FOLDER"""
import base64, csv, datetime, decimal, gzip, io, json, pathlib, pickle, sys, urllib.parse
import xml.etree.ElementTree as ElementTree

folder = pathlib.Path(sys.argv[1])


def ad(change={}, fields={}):
    return {"source_id": "@ID@", "category_id": 1020, "category_fields": {
        "model_year": 2019, "brand": "volvo", "model": "v60", "registration_number": "@PLATE@",
        "condition": {"mileage": {"unit": "mil", "value": 5400}}, "powertrain": {"fuels": ["diesel"]}} | fields,
        "price": [{"type": "list", "amount": 189900, "currency": "SEK"}], "body": "Bra bil"} | change


def write(name, content):
    data = content if isinstance(content, bytes) else content.encode()
    (folder / f"python-{name}.body").write_bytes(data)


class Ad:
    """An ad without a method that shows it."""


day = datetime.datetime(2019, 5, 3)
price = lambda amount: ad({"price": [{"type": "list", "amount": amount, "currency": "SEK"}]})
write("str-of-dict", str(ad()))
write("nan", json.dumps(ad({}, {"physics": {"boot_size": {"unit": "l", "value": float("nan")}}})))
write("true-in-f-string", f'{{"source_id": "@ID@", "visible": {True}}}')
write("none-in-f-string", f'{{"source_id": "@ID@", "body": {None}}}')
write("isoformat", json.dumps(ad({}, {"in_traffic_date": day.isoformat()})))
write("timestamp", json.dumps(ad({}, {"in_traffic_date": day.replace(tzinfo=datetime.timezone.utc).timestamp()})))
write("strftime", json.dumps(ad({}, {"in_traffic_date": day.strftime("%d-%b-%y").upper()})))
write("timetuple", json.dumps(ad({}, {"in_traffic_date": day.timetuple()[:3]})))
write("dumps-twice", json.dumps(json.dumps(ad())))
write("pickle", pickle.dumps(ad()))
write("urlencode", urllib.parse.urlencode(ad()))
write("quote", urllib.parse.quote(json.dumps(ad())))
write("decimal", json.dumps(price(str(decimal.Decimal("189900.50")))))
write("thousands", json.dumps(price(f"{189900.5:,.2f}")))
write("str-of-none", json.dumps(ad({}, {"physics": {"number_of_doors": str(None)}})))
write("object", f"<{Ad.__module__}.{Ad.__qualname__} object at 0x7f2a5c1d8e50>")
write("list-of-ads", json.dumps([ad()]))
write("json-patch", json.dumps([{"op": "replace", "path": "/body", "value": "Ny text"}]))
write("utf16", json.dumps(ad()).encode("utf-16"))
write("gzip", gzip.compress(json.dumps(ad()).encode(), mtime=0))
write("base64", base64.b64encode(json.dumps(ad()).encode()))
write("cut", json.dumps(ad())[:-2])
root = ElementTree.Element("ad")
ElementTree.SubElement(root, "source_id").text = "x"
write("elementtree", ElementTree.tostring(root))
table = io.StringIO()
csv.writer(table, delimiter=";").writerows([["source_id", "brand", "model"], ["x", "volvo", "v60"]])
write("csv", table.getvalue())
write("swapped-case", json.dumps({name.upper(): value for name, value in ad().items()}))
write("escaped-line-breaks", json.dumps(ad({"body": "Rad 1\nRad 2".replace("\n", "\\n")})))
write("surrogate", json.dumps(ad({"body": "Ny bil \U0001f697"}))[:-5] + '"}')
