"use strict";
// Fills in the address of this server, and copies a sample on request.
const server = new URL(document.currentScript.dataset.server, location.href).href.replace(/\/$/, "");
for (const place of document.querySelectorAll("[data-server-url]")) place.textContent = server;
for (const button of document.querySelectorAll("button[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
    button.textContent = "Copied";
  });
}
