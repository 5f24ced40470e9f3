// Makes the pages of the console quicker: shows times in the visitor's time zone, and refreshes what has changed. Pages need none of it.

/** Shortest time between two refreshes of a page, in milliseconds. */
const PAUSE = 2000;

/** The same while events keep coming for long: each refresh lengthens the pause up to this. */
const LONGEST_PAUSE = 15000;

/** Shortest and longest time before the events are asked for again, when a browser has given them up, in milliseconds. */
const [SOONEST_REOPENING, LATEST_REOPENING] = [1000, 30000];

/** How long a browser may try to get the events again before the page says that it may be old, in milliseconds. */
const SILENT_FOR = 5000;

/** Shows the times below an element in the time zone of the browser. */
function localize(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = time.dateTime;
    time.textContent = format.format(at);
  }
  // By which clock a time is need not be said where it is that of the browser.
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const clock of root.querySelectorAll("[data-clock]")) clock.hidden = clock.dataset.clock === own;
}

/** Whether an element holds what somebody is working on. */
function isInUse(element) {
  const active = document.activeElement;
  const edits = element.contains(active) && active.matches("input, select, textarea");
  return edits || element.querySelector("dialog[open], input:checked[data-select]") !== null;
}

/** Has screen readers say a text. */
function announce(text) {
  const place = document.getElementById("announcements");
  if (place) place.textContent = text;
}

/** The selector by which a focused element is found in the new content. */
function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.localName === "summary" && element.parentElement.id) return `#${CSS.escape(element.parentElement.id)} > summary`;
  const attribute = ["href", "value"].find((name) => element.hasAttribute(name));
  return attribute && `${element.localName}[${attribute}="${CSS.escape(element.getAttribute(attribute))}"]`;
}

/** Gives the focus back to what had it. If that is gone, its place has the focus, so that the keyboard goes on from there. */
function focusAgain(place, selector) {
  const same = place.querySelector(selector);
  if (!same && !place.hasAttribute("tabindex")) place.tabIndex = -1;
  (same ?? place).focus({ preventScroll: true });
}

/** Puts the new content of an element in its place. Focus, open details and scroll positions stay. */
function replace(old, fresh) {
  if (old.innerHTML === fresh.innerHTML || isInUse(old)) return;
  const focused = old.contains(document.activeElement) && (selectorOf(document.activeElement) ?? ":not(*)");
  const open = [...old.querySelectorAll("details[id][open]")].map((details) => details.id);
  old.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) focusAgain(old, focused);
  localize(old);
  if (old.dataset.live === "announced") announce(old.querySelector("h2")?.textContent ?? "");
}

/** Fetches the page again and replaces its live parts, which have an id and `data-live`. What that says is about a part that the new page
 * lacks: it is removed (`or-gone`, and `until-gone`, which is not replaced either), or the page is loaded again (`until-others`). */
async function refresh() {
  const parts = [...document.querySelectorAll("[data-live][id]")];
  if (parts.length === 0) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
  // The session is over: the sign-in page is in its place.
  if (answer.redirected) return location.reload();
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  localize(page);
  for (const part of parts) {
    const fresh = page.getElementById(part.id);
    const { live } = part.dataset;
    // Another page is in its place, as when the first ad is there.
    if (!fresh && live === "until-others") return location.reload();
    if (!fresh && ["or-gone", "until-gone"].includes(live)) part.remove();
    if (fresh && live !== "until-gone") replace(part, fresh);
  }
  document.title = page.title;
}

/** Refreshes once for many events: soon after a quiet time, and less and less often while they keep coming. */
const later = (() => {
  let due = null;
  let last = 0;
  let pause = PAUSE;
  return () => {
    if (due !== null) return;
    const since = Date.now() - last;
    pause = since > 2 * pause ? PAUSE : Math.min(1.25 * pause, LONGEST_PAUSE);
    due = setTimeout(async () => {
      due = null;
      last = Date.now();
      try {
        await refresh();
      } catch {
        // The next event tries again.
      }
      followUnderWay();
    }, Math.max(100, pause - since));
  };
})();

/** Goes on refreshing a page that says that something is under way: its end may come after the last event. */
function followUnderWay() {
  if (document.querySelector("[data-under-way]") && !document.hidden) later();
}

/** Adds an event to the list of events on the page, the newest first. */
function show(event) {
  const list = document.querySelector("[data-event-list]");
  const template = document.querySelector("template[data-event]");
  if (!list || !template) return;
  const item = template.content.cloneNode(true);
  const words = JSON.parse(template.dataset.event);
  const put = (name, text) => {
    const place = item.querySelector(`[data-is="${name}"]`);
    if (place) place.textContent = text ?? "";
  };
  const link = item.querySelector("a");
  link.href += `?${new URLSearchParams({ source_id: event.source_id, dealer_code: event.dealer_code })}`;
  // The server knows ads by their titles, and so does a link that is on the page already. The refresh brings those of others.
  const known = [...document.querySelectorAll("main a")].find((other) => other.getAttribute("href") === link.getAttribute("href"));
  put("ad", known?.textContent.trim() || event.source_id);
  put("action", words[event.action] ?? event.action);
  put("state", words[event.state] ?? event.state);
  put("failure", words[event.code] ?? event.code);
  const kinds = { processing: "under-way", done: "well", error: "failure" };
  item.querySelector('[data-is="state"]')?.classList.add(kinds[event.state] ?? "at-rest");
  const time = item.querySelector("time");
  time.dateTime = event.timestamp;
  localize(item);
  list.prepend(item);
  if (event.state !== "processing") announce(list.firstElementChild.textContent);
  list.hidden = false;
  while (list.children.length > 20) list.lastElementChild.remove();
}

/** Says on the page that it may be old, or no more. */
function sayOld(isOld) {
  const place = document.getElementById("stream");
  const text = isOld ? place?.dataset.mayBeOld : "";
  if (place && place.textContent !== text) place.textContent = text;
}

/** Follows the events of the session while the page is visible: a browser has few connections for all its tabs. */
function follow() {
  const address = document.body.dataset.events;
  if (!address) return;
  const wanted = document.querySelector("[data-live], [data-event-list]");
  if (!wanted) return;
  const only = wanted.closest("[data-source-id]")?.dataset.sourceId;
  const query = new URLSearchParams({ after: "now", ...(only ? { source_id: only } : {}) });
  const types = document.body.dataset.eventTypes.split(" ");
  let source = null;
  let reopening = null;
  let pause = SOONEST_REOPENING;
  let silence = null;
  const close = () => {
    source?.close();
    source = null;
    clearTimeout(reopening);
    clearTimeout(silence);
    reopening = silence = null;
  };
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(`${address}?${query}`);
    source.addEventListener("open", () => {
      document.body.dataset.follows = "";
      pause = SOONEST_REOPENING;
      clearTimeout(silence);
      silence = null;
      sayOld(false);
      // What has changed since the page was made.
      later();
    });
    source.addEventListener("error", () => {
      delete document.body.dataset.follows;
      if (source?.readyState !== EventSource.CLOSED) {
        // The browser tries again by itself.
        silence ??= setTimeout(() => sayOld(true), SILENT_FOR);
        return;
      }
      // It does not after an answer that is no stream, such as that of a proxy while the service is replaced.
      close();
      sayOld(true);
      reopening = setTimeout(open, pause * (0.75 + Math.random() / 2));
      pause = Math.min(2 * pause, LATEST_REOPENING);
      // The page itself may be there, or the session over.
      later();
    });
    for (const type of types) {
      source.addEventListener(type, (message) => {
        show(JSON.parse(message.data));
        later();
      });
    }
  };
  const goOn = () => {
    open();
    later();
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : goOn()));
  addEventListener("pagehide", close);
  // The browser has kept the page, but not its connection.
  addEventListener("pageshow", (event) => event.persisted && goOn());
  open();
}

/** Checkbox that selects all rows, and the number of those that are selected. */
function select() {
  const all = document.querySelector("[data-select-all]");
  if (!all) return;
  const boxes = () => [...document.querySelectorAll("input[data-select]")];
  const matching = document.querySelector("[data-select-matching]");
  const count = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    const selected = matching?.checked ? matching.dataset.selectMatching : ticked;
    for (const place of document.querySelectorAll("[data-only-ticked]")) place.hidden = matching?.checked === true;
    all.checked = ticked > 0 && ticked === boxes().length;
    all.indeterminate = ticked > 0 && !all.checked;
    for (const place of document.querySelectorAll("[data-selected]")) place.textContent = selected;
    for (const place of document.querySelectorAll("[data-needs-selection]")) place.disabled = Number(selected) === 0;
  };
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    count();
  });
  document.addEventListener("change", (event) => event.target.matches("input[data-select], [data-select-matching]") && count());
  // The browser ticks boxes again when somebody comes back to the page.
  addEventListener("pageshow", count);
  count();
}

/** Ads per request while many are created. */
const BATCH = 10;

/** Reads dropped and chosen files into the form of pasted ads, and creates many ads step by step. */
function paste() {
  const form = document.querySelector("form[data-drop]");
  if (!form) return;
  const text = form.querySelector("textarea");
  const file = form.querySelector('input[type="file"]');
  const read = async (chosen) => {
    if (chosen) text.value = await chosen.text();
  };
  form.querySelector("[data-needs-script]").hidden = false;
  file.addEventListener("change", () => read(file.files[0]));
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    read(event.dataTransfer.files[0]);
  });
  form.addEventListener("submit", async (event) => {
    const lines = text.value.split("\n");
    const isLines = lines.filter((line) => line.trim()).every((line) => /^\s*\{.*\}\s*$/.test(line));
    if (event.submitter?.value !== "create" || !isLines || lines.length <= BATCH) return;
    event.preventDefault();
    const progress = form.querySelector("progress");
    const rows = document.querySelector("#report tbody");
    progress.hidden = false;
    progress.max = lines.length;
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    const created = [];
    for (let at = 0; at < lines.length; at += BATCH) {
      // Empty lines before a batch keep the numbers of its lines.
      const part = "\n".repeat(at) + lines.slice(at, at + BATCH).join("\n");
      const body = new URLSearchParams({ json: part, do: "create" });
      const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      created.push(...page.querySelectorAll("#report tbody tr"));
      progress.value = Math.min(at + BATCH, lines.length);
      if (!answer.ok) break;
    }
    rows.replaceChildren(...created);
    document.getElementById("announcements").textContent = `${form.dataset.progress}: ${progress.value}`;
  });
}

/** Says dates in words beside their inputs, as they are chosen. */
function sayDates() {
  const { lang } = document.documentElement;
  const options = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
  const format = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, options);
  const say = (input) => {
    const words = input.parentElement.querySelector("[data-date]");
    if (words) words.textContent = Number.isNaN(input.valueAsNumber) ? "" : format.format(input.valueAsNumber);
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches('input[type="date"]')) say(event.target);
  });
  for (const input of document.querySelectorAll('input[type="date"]')) say(input);
}

/** Offers to copy a text. Where the browser does not permit it, the text is marked, and can be copied by hand. */
function offerCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const place = document.getElementById(button.dataset.copy);
      getSelection().selectAllChildren(place);
      if (navigator.clipboard) await navigator.clipboard.writeText(place.textContent.trim());
      else document.execCommand("copy");
      button.textContent = button.dataset.copied;
      announce(button.dataset.copied);
    });
  }
}

localize(document);
offerCopies();
select();
follow();
followUnderWay();
fillIn();
sayDates();
paste();
forgetDrafts();
