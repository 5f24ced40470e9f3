//! `interface.md`, 'List parameters' and 'Log parameters'.

mod filters;
mod logs;
mod settings;
mod times;

use serde_json::{Value, json};

use super::{
    request::{Who, ad, get, post},
    rule::Rule,
    trial::Trial,
};

pub(super) fn rules() -> Vec<Rule> {
    [filters::rules(), times::rules(), settings::rules(), logs::rules()].into_iter().flatten().collect()
}

/// Two cars and a boat of a dealer that has no others with this mark, in the order of their creation.
pub(super) struct Stock {
    mark: String,
    ids: [String; 3],
    plates: [String; 2],
}

impl Stock {
    async fn new(trial: &Trial) -> Self {
        let mark = format!("Stock{}", trial.world.number());
        let (mut ids, mut plates) = (Vec::new(), Vec::new());
        for (vehicle_type, body) in [("car", "Välvårdad"), ("car", "Ett fynd"), ("boat", "")] {
            let id = format!("{mark}-{}", ids.len());
            let plate = trial.plate();
            let mut over = json!({"source_id": id, "body": format!("{body} {mark}-{}", ids.len())});
            if vehicle_type == "car" {
                over["category_fields"] = json!({"registration_number": plate, "brand": "saab"});
                plates.push(plate);
            } else {
                over["title"] = json!(format!("Öppen båt {mark}"));
                over["visible"] = json!(false);
            }
            let created =
                trial.sent(post(format!("/v4/{vehicle_type}"), &ad(vehicle_type, &over)).by(Who::Quiet)).await;
            let last = if vehicle_type == "car" { "publish" } else { "create" };
            trial.ended_for(Who::Quiet, &id, last, &created).await;
            ids.push(id);
        }
        let fixed = "as many as were made";
        Self { mark, ids: ids.try_into().expect(fixed), plates: plates.try_into().expect(fixed) }
    }

    /// The ads of this stock that a query finds, oldest first unless it says otherwise.
    async fn finds(&self, trial: &Trial, query: &str, expected: &[usize]) {
        let ordering = if query.contains("ordering=") { "" } else { "&ordering=created" };
        let narrow = if query.starts_with("source_id") || query.contains("&source_id") {
            String::new()
        } else {
            format!("&source_id__icontains={}", self.mark)
        };
        let path = format!("/v4/ad?{}{ordering}{narrow}", query.replace(' ', "%20"));
        let rows: Vec<_> = expected.iter().map(|index| json!({"source_id": self.ids[*index]})).collect();
        trial.accepts(get(path).by(Who::Quiet), 200, json!({"count": rows.len(), "results": rows})).await;
    }

    async fn read(&self, trial: &Trial, index: usize) -> Value {
        trial.world.client(Who::Quiet).ad(&self.ids[index]).await
    }
}

async fn refuses(trial: &Trial, parameter: &str, value: &str, messages: Value) {
    trial.refuses(get(format!("/v4/ad?{parameter}={value}")), 400, json!({ parameter: messages })).await;
}
