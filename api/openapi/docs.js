"use strict";

// Everything is put in as text, never as HTML.
const make = (name, text, ...children) => {
  const e = document.createElement(name);
  if (text) e.textContent = text;
  e.append(...children);
  return e;
};

// say is a schema in a few words, with links to the types that it names.
const say = (s) => {
  if (!s) return make("span", "");
  if (s.$ref) {
    const name = s.$ref.split("/").pop();
    const a = make("a", name);
    a.href = "#" + name;
    return a;
  }
  if (s.oneOf) return make("span", "", ...s.oneOf.flatMap((o, i) => (i ? [" or ", say(o)] : [say(o)])));
  if (s.type === "array") return make("span", "list of ", say(s.items));
  if (s.additionalProperties && s.additionalProperties !== true) return make("span", "object of ", say(s.additionalProperties));
  if (s.enum) return make("span", s.enum.join(" | "));
  return make("span", [].concat(s.type || "anything").join(" or ") + (s.format ? " (" + s.format + ")" : ""));
};

const fields = (schema) => {
  const rows = Object.entries(schema.properties || {}).map(([name, s]) =>
    make("tr", "", make("td", "", make("code", name + ((schema.required || []).includes(name) ? " *" : ""))),
      make("td", "", say(s)), make("td", s.description || "")));
  return make("table", "", ...rows);
};

const call = (method, path, op) => {
  const d = make("details", "", make("summary", "", make("b", method.toUpperCase()), make("code", path), make("span", op.summary)));
  d.id = method + path;
  if (op.description) d.append(make("p", op.description));
  if ((op.parameters || []).length) {
    d.append(make("h4", "Parameters"), make("table", "", ...op.parameters.map((p) =>
      make("tr", "", make("td", "", make("code", p.name)), make("td", p.in), make("td", p.description || "")))));
  }
  for (const [media, body] of Object.entries(op.requestBody?.content || {})) {
    d.append(make("h4", "Body, as " + media), make("p", "", say(body.schema)));
    if (body.example) d.append(make("pre", JSON.stringify(body.example, null, 2)));
  }
  const answers = Object.entries(op.responses).map(([status, r]) => {
    const content = Object.values(r.content || {})[0];
    return make("tr", "", make("td", "", make("code", status)), make("td", r.description), make("td", "", say(content && content.schema)));
  });
  d.append(make("h4", "Answers"), make("table", "", ...answers));
  return d;
};

fetch("/openapi.json").then((r) => r.json()).then((doc) => {
  document.getElementById("about").textContent = doc.info.description + " Version " + doc.info.version + ".";
  const calls = document.getElementById("calls");
  for (const [path, ops] of Object.entries(doc.paths)) {
    for (const [method, op] of Object.entries(ops)) calls.append(call(method, path, op));
  }
  const types = document.getElementById("types");
  for (const [name, schema] of Object.entries(doc.components.schemas)) {
    const h = make("h3", name);
    h.id = name;
    types.append(h, fields(schema));
  }
}).catch((e) => { document.getElementById("about").textContent = "The document cannot be read: " + e.message; });
