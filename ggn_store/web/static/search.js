// Of pages that are files: finds games by words of their names, titles and pieces, as the server does.
"use strict";
const gallery = document.querySelector(".gallery");
const tiles = [...gallery.children];
const label = document.createElement("label");
const input = document.createElement("input");
input.type = "search";
label.className = "search";
label.append("Search ", input);
gallery.before(label);

function made(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function tile(game) {
  const picture = game.picture ? made("img", { src: game.picture, alt: "", width: 160, height: 160 }) : "";
  return made("li", {}, made("a", { className: "tile", href: game.page },
    made("span", { className: "thumb" }, picture),
    made("span", { className: "name" }, game.title),
    made("span", { className: "facts" }, game.facts)));
}

input.addEventListener("input", () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = GAMES.filter((game) => words.every((word) => game.words.includes(word)));
  gallery.replaceChildren(...(words.length ? found.map(tile) : tiles));
});
