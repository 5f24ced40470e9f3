// Photos from the phone or computer: sent one by one while the form is filled, shown in their order, and moved by dragging or by buttons.

/** Photos that are sent at the same time. */
const AT_ONCE = 2;

/** Pictures of the photos that were sent from this page, by their addresses. */
const sentPhotos = new Map();

/** A photo that this service has stored, at the address at which the browser sees the service. */
function storedPhoto(address) {
  const at = address?.match(/\/media\/[0-9a-f]{64}\.(jpg|png)$/);
  return at && new URL(address).origin === location.origin ? address : undefined;
}

/** Sends a photo and says how far it is. Resolves to what the server answers. */
function sendPhoto(address, file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.responseType = "text";
    request.upload.addEventListener("progress", (event) => event.lengthComputable && progress(event.loaded / event.total));
    request.addEventListener("load", () => {
      try {
        resolve(JSON.parse(request.responseText));
      } catch {
        reject(new Error(request.statusText));
      }
    });
    request.addEventListener("error", () => reject(new Error("")));
    request.send(file);
  });
}

/** Puts pictures in the place of the list of addresses in a form. */
function photos(form) {
  const list = form.querySelector("textarea[data-photos]");
  if (!list) return { finished: async () => {}, show() {} };
  const words = JSON.parse(list.dataset.words);
  const thumbnails = JSON.parse(list.dataset.thumbnails) ?? {};
  let items = [];
  let dragged = null;
  let active = 0;
  const waiting = [];

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const tiles = make("ol", { className: "photos tiles" });
  const choose = make("input", { type: "file", multiple: true, accept: "image/jpeg,image/png", id: "choose-photos" });
  const camera = make("input", { type: "file", accept: "image/jpeg,image/png", id: "take-photo" });
  camera.setAttribute("capture", "environment");
  const drop = make(
    "div",
    { className: "drop" },
    make("label", { htmlFor: "choose-photos" }, words.choose),
    choose,
    make("label", { htmlFor: "take-photo", className: "camera" }, words.camera),
    make("span", { className: "camera" }, camera),
    make("p", { className: "help" }, words.drop),
  );
  const addresses = make("details", {}, make("summary", {}, words.addresses));
  list.before(tiles, drop, addresses);
  addresses.append(list);

  const write = () => {
    list.value = items.filter((item) => item.address).map((item) => item.address).join("\n");
    list.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const move = (from, to, say = true) => {
    if (to < 0 || to >= items.length) return;
    const [item] = items.splice(from, 1);
    items.splice(to, 0, item);
    draw();
    write();
    tiles.children[to]?.querySelector(to === 0 ? "[data-later]" : "[data-earlier]")?.focus();
    if (say) announce(`${words.photo} ${from + 1}: ${words.now_number} ${to + 1}`);
  };
  const button = (text, label, act, name) => {
    const element = make("button", { type: "button", textContent: text });
    element.setAttribute("aria-label", label);
    if (name) element.dataset[name] = "";
    element.addEventListener("click", act);
    return element;
  };
  const tile = (item, at) => {
    const name = `${words.photo} ${at + 1}`;
    const shown = item.shown ?? thumbnails[item.address] ?? sentPhotos.get(item.address) ?? storedPhoto(item.address);
    const picture = shown
      ? make("img", { src: shown, alt: name, width: 160, height: 120 })
      : make("span", { className: "no-photo", title: item.address ?? "" });
    const caption = make("p", {}, at === 0 ? words.first_photo : name);
    const children = [picture, caption];
    if (item.error) children.push(make("p", { className: "field-error", role: "alert" }, item.error));
    else if (!item.address) children.push(make("progress", { max: 1, value: item.progress ?? 0, ariaLabel: name }));
    else if (!shown) children.push(make("p", { className: "help" }, item.address));
    const buttons = [];
    if (at > 0) {
      buttons.push(button("←", `${name}: ${words.earlier}`, () => move(at, at - 1), "earlier"));
      buttons.push(button("⇤", `${name}: ${words.make_first}`, () => move(at, 0)));
    }
    if (at + 1 < items.length) buttons.push(button("→", `${name}: ${words.later}`, () => move(at, at + 1), "later"));
    buttons.push(
      button("×", `${name}: ${words.remove}`, () => {
        items.splice(at, 1);
        draw();
        write();
        (tiles.children[Math.min(at, items.length - 1)]?.querySelector("button") ?? choose).focus();
        announce(`${name}: ${words.removed}`);
      }),
    );
    children.push(make("div", { className: "actions" }, ...buttons));
    const element = make("li", { draggable: true }, ...children);
    element.addEventListener("dragstart", () => (dragged = at));
    element.addEventListener("dragover", (event) => dragged !== null && event.preventDefault());
    element.addEventListener("drop", (event) => {
      if (dragged === null) return;
      event.preventDefault();
      event.stopPropagation();
      move(dragged, at, false);
      dragged = null;
    });
    element.addEventListener("dragend", () => (dragged = null));
    item.element = element;
    return element;
  };
  const draw = () => tiles.replaceChildren(...items.map(tile));
  const read = () => {
    const known = new Map(items.filter((item) => item.address).map((item) => [item.address, item]));
    const wanted = [...new Set(list.value.split("\n").map((line) => line.trim()).filter(Boolean))];
    items = [...wanted.map((address) => known.get(address) ?? { address }), ...items.filter((item) => !item.address)];
    draw();
  };

  const next = async () => {
    if (active >= AT_ONCE || waiting.length === 0) return;
    active += 1;
    const item = waiting.shift();
    const dealer = form.querySelector('[name="dealer_code"]')?.value;
    const address = new URL(list.dataset.photos, location.href);
    if (dealer) address.searchParams.set("dealer_code", dealer);
    try {
      const answer = await sendPhoto(address, item.file, (part) => {
        item.progress = part;
        const bar = item.element?.querySelector("progress");
        if (bar) bar.value = part;
      });
      if (answer.address && items.some((other) => other.address === answer.address)) items.splice(items.indexOf(item), 1);
      else Object.assign(item, { address: answer.address, error: answer.error });
      if (answer.address) sentPhotos.set(answer.address, item.shown);
    } catch {
      item.error = words.not_sent;
    }
    active -= 1;
    draw();
    write();
    next();
  };
  const add = (files) => {
    for (const file of files) {
      if (file.size > Number(list.dataset.most)) {
        items.push({ error: `${file.name}: ${words.too_large}` });
        continue;
      }
      if (!/^image\/(jpeg|png)$/.test(file.type)) {
        items.push({ error: `${file.name}: ${words.not_a_photo}` });
        continue;
      }
      const item = { file, shown: URL.createObjectURL(file), progress: 0 };
      items.push(item);
      waiting.push(item);
    }
    draw();
    for (let started = 0; started < AT_ONCE; started += 1) next();
  };
  for (const input of [choose, camera]) {
    input.addEventListener("change", () => {
      add([...input.files]);
      input.value = "";
    });
  }
  const isFiles = (event) => event.dataTransfer?.types.includes("Files");
  const area = list.closest(".panel") ?? form;
  area.addEventListener("dragover", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  area.addEventListener("dragleave", () => drop.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    drop.classList.remove("over");
    add([...event.dataTransfer.files]);
  });
  list.addEventListener("change", read);
  read();
  return {
    /** Waits until all photos have been sent. */
    async finished() {
      while (active > 0 || waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    },
    /** Shows what is in the list of addresses now. */
    show: read,
  };
}
