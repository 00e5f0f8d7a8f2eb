// Of pages that are files: finds games by words of their names and titles, as the server does.
"use strict";
const gallery = document.querySelector(".gallery");
const label = document.createElement("label");
const input = document.createElement("input");
input.type = "search";
label.className = "search";
label.append("Search ", input);
gallery.before(label);
input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/);
  for (const tile of gallery.children) {
    tile.hidden = !words.every((word) => tile.textContent.toLowerCase().includes(word));
  }
});
