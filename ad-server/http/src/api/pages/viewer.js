"use strict";
// Shows an OpenAPI document in Swagger UI or Redoc, whichever the page loads. Where the page has a choice of vehicle types,
// the document is that of the chosen one: the document of all types has several times more elements than a browser shows quickly.
(async () => {
  // Swagger UI and Redoc are larger than this script: the document is fetched while they load.
  const viewerIsThere = new Promise((done) => addEventListener("DOMContentLoaded", done));
  const place = document.getElementById("document");
  const source = new URL(place.dataset.source, location.href);
  const choice = document.getElementById("tag");
  if (choice) {
    const wanted = new URLSearchParams(location.search).get("tag");
    if ([...choice.options].some((option) => option.value === wanted)) choice.value = wanted;
    source.searchParams.set("tag", choice.value);
    choice.addEventListener("change", () => location.assign(`?tag=${choice.value}`));
    for (const link of document.querySelectorAll("a[data-keeps-tag]")) link.search = source.search;
  }
  const answer = await fetch(source);
  if (!answer.ok) {
    place.textContent = `${source} answers with status ${answer.status}. Reload the page.`;
    return;
  }
  const spec = await answer.json();
  await viewerIsThere;
  if (window.Redoc) showInRedoc(spec, place, choice?.value);
  else showInSwaggerUi(spec);
})();

function showInRedoc(spec, place, tag) {
  keepOwn(spec, tag);
  showOnce(spec);
  const options = {
    hideDownloadButton: true,
    maxDisplayedEnumValues: 12,
    nativeScrollbars: true,
    requiredPropsFirst: true,
    jsonSampleExpandLevel: 3,
  };
  Redoc.init(spec, options, place);
}

// Redoc renders all operations before it shows anything. Those that the documents of all vehicle types have are a choice of their own,
// whose document has nothing else. A document without choice is shown whole.
function keepOwn(spec, tag) {
  const isOwn = (item) => Object.values(item).some((operation) => operation.tags?.includes(tag));
  if (!Object.values(spec.paths).some(isOwn)) return;
  spec.paths = Object.fromEntries(Object.entries(spec.paths).filter(([, item]) => isOwn(item)));
  spec.tags = spec.tags.filter(({ name }) => name === tag);
}

// Redoc renders every body of every operation before it shows anything. The ad that most operations answer with makes up 40 % of the
// elements of a page, so one operation shows it and the others link to that one. Problem details are described in the guide.
function showOnce(spec) {
  const shared = spec.components?.responses ?? {};
  for (const { content } of Object.values(shared)) {
    if (content?.["application/json"]) delete content["application/problem+json"];
  }
  const operations = Object.values(spec.paths).flatMap((path) => Object.values(path)).filter((item) => item.responses);
  // An update shows it, where there is one.
  operations.sort((one, other) => Boolean(other.requestBody) - Boolean(one.requestBody));
  const shown = new Map();
  for (const operation of operations) {
    const name = operation.responses[200]?.$ref?.split("/").pop();
    const first = shown.get(name);
    if (!name) continue;
    if (!first) {
      shown.set(name, operation);
      continue;
    }
    const { content, ...answer } = shared[name];
    answer.description += `. The body is that of [${first.summary}](#operation/${first.operationId}).`;
    operation.responses[200] = answer;
  }
}

function showInSwaggerUi(spec) {
  // The guide would fill the first screens; Redoc shows it.
  spec.info.description = spec.info.description?.split("\n\n# ")[0];
  // Swagger UI fills in examples: every request would have the same key, and every update the tag of another ad.
  const inline = Object.values(spec.paths).flatMap((path) => Object.values(path)).flatMap((item) => item.parameters ?? []);
  for (const parameter of [...inline, ...Object.values(spec.components?.parameters ?? {})]) {
    if (!parameter.required) {
      delete parameter.example;
      delete parameter.examples;
      delete parameter.schema?.example;
    }
  }
  const header = Object.keys(spec.components?.securitySchemes ?? {})[0];
  const ui = SwaggerUIBundle({
    dom_id: "#document",
    spec,
    deepLinking: true,
    filter: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    plugins: [filterOperations, () => keepToken(header)],
    onComplete: () => {
      const token = sessionStorage.getItem(header);
      if (token) ui.preauthorizeApiKey(header, token);
    },
  });
}

// Swagger UI's own filter compares names of tags. This one finds operations by method, path, summary, or text.
function filterOperations({ React }) {
  const text = (item) =>
    [item.get("method"), item.get("path"), item.getIn(["operation", "summary"]), item.getIn(["operation", "description"])]
      .join(" ")
      .toLowerCase();
  const input = ({ layoutSelectors, layoutActions }) => {
    const phrase = layoutSelectors.currentFilter();
    const field = React.createElement("input", {
      className: "operation-filter-input",
      placeholder: "Filter operations",
      value: typeof phrase === "string" ? phrase : "",
      onChange: (event) => layoutActions.updateFilter(event.target.value),
    });
    return React.createElement("div", { className: "filter wrapper" }, field);
  };
  return {
    components: { FilterContainer: input },
    fn: {
      opsFilter: (tags, phrase) =>
        tags
          .map((tag) => tag.update("operations", (all) => all.filter((item) => text(item).includes(phrase.toLowerCase()))))
          .filter((tag) => tag.get("operations").size > 0),
    },
  };
}

// Keeps the token until the tab is closed, also when the page is reloaded or another vehicle type is chosen.
function keepToken(header) {
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (original) => (payload) => {
            if (payload[header]) sessionStorage.setItem(header, payload[header].value);
            return original(payload);
          },
          logout: (original) => (names) => {
            sessionStorage.removeItem(header);
            return original(names);
          },
        },
      },
    },
  };
}
