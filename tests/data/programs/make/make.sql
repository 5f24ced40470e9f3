-- Bodies as SQLite makes them: sqlite3 :memory: < make.sql, in the folder of the bodies.
create table ad (source_id char(8), plate text, year integer, vat boolean, first text, body text, amount numeric);
insert into ad values ('@ID@', '@PLATE@', 2019, true, '2019-05-03', null, 189900.5);
.mode list
.output sqlite-boolean.body
select json_object('source_id', source_id, 'category_id', 1020, 'category_fields', json_object('model_year', year, 'registration_number', plate, 'is_vat_deductible', vat)) from ad;
.output sqlite-null-in-text.body
select '{"source_id": "' || source_id || '", "category_id": 1020, "body": ' || quote(body) || '}' from ad;
.output sqlite-julian-day.body
select json_object('source_id', source_id, 'category_id', 1020, 'category_fields', json_object('model_year', year, 'registration_number', plate, 'in_traffic_date', julianday(first))) from ad;
.output sqlite-datetime.body
select json_object('source_id', source_id, 'category_id', 1020, 'category_fields', json_object('model_year', year, 'registration_number', plate, 'in_traffic_date', datetime(first))) from ad;
.output sqlite-seconds-as-text.body
select json_object('source_id', source_id, 'category_id', 1020, 'category_fields', json_object('model_year', year, 'registration_number', plate, 'in_traffic_date', strftime('%s', first))) from ad;
.output sqlite-nested-text.body
select json_object('source_id', source_id, 'category_id', 1020, 'category_fields', json_object('model_year', year) || '') from ad;
.output sqlite-printf.body
select json_object('source_id', source_id, 'category_id', 1020, 'category_fields', json_object('model_year', year, 'registration_number', plate), 'price', json_array(json_object('type', 'list', 'amount', printf('%.2f', amount)))) from ad;
.mode json
.output sqlite-mode-json.body
select source_id, 1020 as category_id, body from ad;
.mode insert ad
.output sqlite-mode-insert.body
select * from ad;
.mode html
.output sqlite-mode-html.body
select * from ad;
