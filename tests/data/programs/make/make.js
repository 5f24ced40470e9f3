// Bodies as Node.js makes them: TZ=Europe/Stockholm node make.js FOLDER
const fs = require('fs');
const util = require('util');
const folder = process.argv[2];
const write = (name, text) => fs.writeFileSync(`${folder}/node-${name}.body`, text);
const ad = (change = {}, fields = {}) => ({
  source_id: '@ID@', category_id: 1020,
  category_fields: {model_year: 2019, brand: 'volvo', model: 'v60', registration_number: '@PLATE@',
    condition: {mileage: {unit: 'mil', value: 5400}}, powertrain: {fuels: ['diesel']}, ...fields},
  price: [{type: 'list', amount: 189900, currency: 'SEK'}], body: 'Bra bil', ...change,
});
const price = (amount) => ad({price: [{type: 'list', amount, currency: 'SEK'}]});
write('object-as-text', `${ad()}`);
write('object-in-template', `{"source_id": "@ID@", "category_fields": ${ad().category_fields}}`);
write('undefined', `{"source_id": "@ID@", "body": ${ad().text}}`);
write('nan', `{"source_id": "@ID@", "price": [{"type": "list", "amount": ${parseFloat('kr 5')}}]}`);
write('infinity', `{"source_id": "@ID@", "price": [{"type": "list", "amount": ${1 / 0}}]}`);
write('stringify-twice', JSON.stringify(JSON.stringify(ad())));
write('swedish-number', JSON.stringify(price((189900.5).toLocaleString('sv-SE'))));
write('german-number', JSON.stringify(price((189900.5).toLocaleString('de-DE'))));
write('currency', JSON.stringify(price((189900).toLocaleString('sv-SE', {style: 'currency', currency: 'SEK'}))));
write('float', JSON.stringify(price(189900 * 1.1)));
write('local-midnight', JSON.stringify(ad({}, {in_traffic_date: new Date(2019, 4, 3)})));
write('utc-midnight', JSON.stringify(ad({}, {in_traffic_date: new Date('2019-05-03')})));
write('date-as-text', JSON.stringify(ad({}, {in_traffic_date: String(new Date(2019, 4, 3))})));
write('locale-date', JSON.stringify(ad({}, {in_traffic_date: new Date(2019, 4, 3).toLocaleDateString('de-DE')})));
write('search-params', new URLSearchParams(ad()).toString());
write('encode-uri', encodeURIComponent(JSON.stringify(ad())));
write('wrapped', JSON.stringify({data: ad()}));
write('flattened', JSON.stringify(ad({}, {'condition.mileage': {unit: 'mil', value: 5400}})));
write('cut-emoji', JSON.stringify(ad({body: 'Ny bil 🚗'.slice(0, -1)})));
write('inspect', util.inspect(ad()));
write('camel-case', JSON.stringify(ad({imageUrls: ['https://img.example/1.jpg']})));
write('base64', btoa(JSON.stringify(ad())));
write('joined', JSON.stringify(ad({image_urls: ['https://img.example/1.jpg', 'https://img.example/2.jpg'].join()})));
write('map', JSON.stringify(ad({category_fields: new Map(Object.entries(ad().category_fields))})));
const form = new FormData();
Object.entries(ad()).forEach(([name, value]) => form.append(name, value));
new Response(form).text().then((text) => write('form-data', text.replace(/formdata-undici-\d+/g, 'formdata-undici-0')));
