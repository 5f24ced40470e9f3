// The form of an ad: checked while it is filled, kept in the browser until it is saved, and sent again when the server was not there.

/** Pause between the last key and the check, in milliseconds. */
const CHECK_AFTER = 500;

/** Pauses before a form is sent again, in milliseconds. */
const SEND_AGAIN = [2000, 4000, 8000, 15000];

/** How long what somebody has written is kept, in milliseconds. */
const KEPT = 7 * 24 * 3600 * 1000;

/** What the names of kept forms begin with. */
const DRAFT = "draft:";

/** The inputs of a form with their values, but for those that every form has. */
function entries(form) {
  return [...new FormData(form)].filter(([name, value]) => typeof value === "string" && name !== "conflict");
}

/** Gives the inputs of a form these values. */
function fillWith(form, values) {
  const names = new Set([...form.elements].map((input) => input.name).filter(Boolean));
  for (const name of names) {
    const own = values.filter(([other]) => other === name).map(([, value]) => value);
    for (const input of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
      if (input.matches('[type="checkbox"], [type="radio"]')) input.checked = own.includes(input.value);
      else if (!input.matches("button") && own.length > 0) input.value = own[own.length - 1];
    }
  }
}

/** What the browser keeps; nothing where it keeps nothing. */
function kept(key) {
  try {
    const draft = JSON.parse(localStorage.getItem(key));
    return draft && Date.now() - draft.at < KEPT ? draft.values : null;
  } catch {
    return null;
  }
}

function keep(key, values) {
  try {
    if (values) localStorage.setItem(key, JSON.stringify({ at: Date.now(), values }));
    else localStorage.removeItem(key);
  } catch {
    // A browser that keeps nothing still asks before a changed form is left.
  }
}

/** Forgets all that was written when somebody signs out. */
function forgetDrafts() {
  document.querySelector("form[data-sign-out]")?.addEventListener("submit", () => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(DRAFT)) localStorage.removeItem(key);
  });
}

/** Makes a form of an ad quicker to fill, and sees to it that nothing is lost. */
function fillIn() {
  const form = document.querySelector("form[data-check]");
  if (!form) return;
  const words = JSON.parse(form.dataset.words);
  const key = `${DRAFT}${form.dataset.scope}:${form.dataset.draft}`;
  const touched = new Set();
  let saved = JSON.stringify(entries(form));
  let leaves = false;
  let uploads = photos(form);

  const notice = document.createElement("div");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  notice.hidden = true;
  form.before(notice);
  const say = (text, ...others) => {
    notice.hidden = !text;
    notice.replaceChildren(text, ...others);
  };

  const draft = kept(key);
  if (draft && JSON.stringify(draft) !== saved) {
    fillWith(form, draft);
    uploads.show();
    for (const [name] of draft) touched.add(name);
    for (const input of form.querySelectorAll("details input, details select, details textarea")) {
      if (input.value && input.type !== "hidden" && input.type !== "checkbox") input.closest("details").open = true;
    }
    const discard = document.createElement("button");
    discard.type = "button";
    discard.textContent = words.discard;
    discard.addEventListener("click", () => {
      leaves = true;
      keep(key, null);
      location.reload();
    });
    say(`${words.restored} `, discard);
  }
  const isChanged = () => JSON.stringify(entries(form)) !== saved;

  // The check.
  let due = null;
  let latest = 0;
  const fetchPage = async (wanted) => {
    const body = new URLSearchParams(entries(form));
    for (const input of form.querySelectorAll('input[name="conflict"]')) body.append("conflict", input.value);
    body.set("do", wanted);
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" } });
    return { answer, page: new DOMParser().parseFromString(await answer.text(), "text/html") };
  };
  const check = async () => {
    const turn = ++latest;
    const { answer, page } = await fetchPage("check").catch(() => ({}));
    if (turn !== latest) return;
    if (!answer?.ok) return cannotCheck();
    for (const part of form.querySelectorAll("[data-checked][id]")) {
      const of = part.id.replace(/^error-/, "");
      // What has not been filled in yet is only listed beside the form.
      if (of !== part.id && ![...touched].some((name) => name === of || name.startsWith(`${of}.`))) continue;
      // What somebody has to choose stays until the form is sent.
      if (part.querySelector(".conflict")) continue;
      if ([...form.querySelectorAll(`[aria-describedby~="${CSS.escape(part.id)}"]`)].some(isNoDate)) continue;
      const fresh = page.getElementById(part.id);
      if (!fresh || fresh.innerHTML === part.innerHTML) continue;
      part.replaceChildren(...fresh.childNodes);
      const wrong = part.querySelector(".field-error") !== null;
      for (const input of form.querySelectorAll(`[aria-describedby~="${CSS.escape(part.id)}"]`)) {
        if (wrong) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    }
  };
  /** Whether an input has a date that does not exist, of which the server would get nothing. */
  const isNoDate = (input) => input.validity?.badInput === true;
  const markDate = (input) => {
    const part = document.getElementById(`error-${input.name}`);
    if (!isNoDate(input) || !part) return false;
    const error = document.createElement("p");
    error.className = "field-error";
    error.textContent = words.no_date;
    part.replaceChildren(error);
    input.setAttribute("aria-invalid", "true");
    return true;
  };
  form.addEventListener("focusout", (event) => markDate(event.target));
  /** What the server answers to another request is not replaced by a check. */
  const stopChecks = () => {
    clearTimeout(due);
    latest += 1;
  };
  const cannotCheck = () => {
    const place = document.getElementById("assessment");
    if (place) place.textContent = words.not_checked;
  };
  form.addEventListener("input", (event) => {
    const choice = event.target.closest(".conflict");
    if (choice) choose(choice.dataset.of, event.target.value);
    if (event.target.name) touched.add(event.target.name);
    keep(key, isChanged() ? entries(form) : null);
    clearTimeout(due);
    due = setTimeout(check, CHECK_AFTER);
  });
  form.addEventListener("click", (event) => {
    const cure = event.target.closest("[data-cure]");
    if (cure) {
      const input = document.getElementById(`input-${cure.dataset.for}`);
      input.value = cure.dataset.cure;
      input.focus();
      input.dispatchEvent(new Event("input", { bubbles: true }));
      return;
    }
    // An error in a closed section is shown when its link is followed.
    const link = event.target.closest('a[href^="#input-"]');
    const input = link && document.getElementById(link.hash.slice(1));
    if (!input) return;
    event.preventDefault();
    input.closest("details")?.setAttribute("open", "");
    input.focus();
  });

  /** Where the value of somebody else is chosen, one's own is not sent. */
  const choose = (field, value) => {
    for (const input of form.elements) {
      if (input.name === field || input.name.startsWith(`${field}.`)) input.disabled = value === "stored";
    }
  };

  // Saving.
  let sends = false;
  const send = async (wanted, from = null, times = 0) => {
    sends = true;
    stopChecks();
    try {
      await uploads.finished();
      const { answer, page } = await fetchPage(wanted);
      if (answer.status === 401) {
        const link = document.createElement("a");
        link.href = form.dataset.signIn;
        link.target = "_blank";
        link.textContent = words.sign_in;
        say(`${words.signed_out} `, link);
      } else if (answer.status === 429 || answer.status >= 502) {
        throw new Error(answer.statusText);
      } else if (answer.ok && answer.redirected) {
        leaves = true;
        keep(key, null);
        location.assign(answer.url);
        return;
      } else {
        show(page, wanted, from);
      }
      sends = false;
    } catch {
      say(words.sent_again);
      setTimeout(() => send(wanted, from, times + 1), SEND_AGAIN[Math.min(times, SEND_AGAIN.length - 1)]);
    }
  };
  /** Shows the form as the server has answered it. The field `from` which somebody pressed Enter keeps the focus. */
  const show = (page, wanted, from) => {
    const fresh = page.querySelector("form[data-check]");
    if (!fresh) {
      const error = page.querySelector("main .notice");
      return say(...(error ? error.childNodes : [words.not_checked]));
    }
    say("");
    stopChecks();
    const open = [...form.querySelectorAll("details[id][open]")].map((details) => details.id);
    form.replaceChildren(...fresh.childNodes);
    for (const id of open) document.getElementById(id)?.setAttribute("open", "");
    uploads = photos(form);
    const error = form.querySelector(".notice.error");
    const field = from && document.getElementById(from);
    if (field) {
      field.focus();
      const found = [...form.querySelectorAll("#assessment h2, #assessment li")];
      announce(found.map((part) => part.textContent).join(". "));
    } else if (error) {
      error.tabIndex = -1;
      error.focus();
    } else if (wanted === "look-up") {
      form.querySelector("[data-look-up]")?.focus();
    } else {
      form.querySelector('[name="do"][value="check"]')?.focus();
    }
    keep(key, isChanged() ? entries(form) : null);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [wrong] = [...form.elements].filter(markDate);
    if (wrong) {
      wrong.closest("details")?.setAttribute("open", "");
      return wrong.focus();
    }
    const active = document.activeElement;
    const from = (event.submitter?.value ?? "check") === "check" && form.contains(active) && active.matches("input, select") ? active.id : null;
    if (!sends) send(event.submitter?.value ?? "check", from);
  });
  addEventListener("beforeunload", (event) => {
    if (!leaves && isChanged()) event.preventDefault();
  });
}
