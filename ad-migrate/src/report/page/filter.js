"use strict";
// Shows only the rows that contain the text, and the reasons with such rows.
for (const input of document.querySelectorAll("input.filter")) {
  input.hidden = false;
  const reasons = [...input.closest("section").querySelectorAll("details.reason")];
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const reason of reasons) {
      let found = false;
      for (const row of reason.querySelectorAll("tbody tr")) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        found ||= !row.hidden;
      }
      reason.hidden = wanted !== "" && !found;
    }
  });
}
