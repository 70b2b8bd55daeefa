"use strict";
(() => {
  const tooltip = document.getElementById("tooltip");
  const announcement = document.getElementById("announcement");
  const rows = JSON.parse(document.getElementById("rows").textContent);

  /* Tooltips are built from text nodes: values are shown as they are and never parsed as markup. */
  const element = (name, text) => {
    const created = document.createElement(name);
    if (text !== undefined) created.textContent = text;
    return created;
  };

  const fill = (label, chart) => {
    tooltip.replaceChildren();
    if (chart !== "uncertainty") { tooltip.append(element("span", label)); return; }
    const [head, ...values] = rows.rows[Number(label)];
    const list = element("dl");
    values.forEach((value, place) => {
      if (place === rows.n_first) { const gap = element("div"); gap.className = "gap"; list.append(gap); }
      const term = element("dt"), shown = element("dd");
      term.append(element("bdi", rows.names[place]));
      shown.append(element("bdi", value));
      list.append(term, shown);
    });
    tooltip.append(element("strong", head), list);
  };

  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const chart = figure.dataset.chart;
    const picture = figure.querySelector(".picture");
    const marks = [...picture.querySelectorAll("svg .role-mark [aria-label]")];
    if (!marks.length) continue;
    let current = -1, order = null, places = null;

    const measure = () => {
      places = marks.map((mark) => {
        const box = mark.getBoundingClientRect();
        return [box.left + box.width / 2 + scrollX, box.top + box.height / 2 + scrollY, box];
      });
      order = [...marks.keys()].sort((one, other) => places[one][0] - places[other][0]);
    };
    new ResizeObserver(() => { places = null; }).observe(document.body);  /* filtering moves what is below the table */

    const leave = () => {
      if (current < 0) return;  /* the tooltip belongs to another chart */
      marks[current].classList.remove("near");
      current = -1;
      tooltip.hidden = true;
    };

    const show = (mark, x, y) => {
      if (mark !== current) {
        leave();
        current = mark;
        marks[mark].classList.add("near");
        fill(marks[mark].getAttribute("aria-label"), chart);
        announcement.textContent = [...tooltip.querySelectorAll("span, strong, dt, dd")].map((part) => part.textContent).join(", ");
      }
      tooltip.hidden = false;
      const width = tooltip.offsetWidth, height = tooltip.offsetHeight;
      tooltip.style.left = Math.max(6, Math.min(x + 16, innerWidth - width - 6)) + "px";
      tooltip.style.top = (y + 18 + height > innerHeight ? Math.max(6, y - height - 14) : y + 18) + "px";
    };

    const nearest = (event) => {
      if (!places) measure();
      const x = event.clientX + scrollX, y = event.clientY + scrollY;
      let best = -1, least = 30 * 30;
      places.forEach(([px, py, box], mark) => {
        const inside = Math.abs(x - px) <= box.width / 2 && Math.abs(y - py) <= box.height / 2;
        const far = inside ? 0 : (x - px) ** 2 + (y - py) ** 2;
        if (far < least || (far === least && far === 0)) { least = far; best = mark; }
      });
      if (best < 0) leave(); else show(best, event.clientX, event.clientY);
    };
    picture.addEventListener("pointermove", nearest);
    picture.addEventListener("pointerdown", nearest);
    /* After a tap the tooltip stays until another place is touched. */
    picture.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") leave(); });
    document.addEventListener("pointerdown", (event) => { if (!picture.contains(event.target)) leave(); });
    picture.addEventListener("blur", leave);
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step) return;
      event.preventDefault();
      if (!places) measure();
      const at = current < 0 ? (step > 0 ? -1 : 0) : order.indexOf(current);
      const next = order[(at + step + order.length) % order.length];
      const box = marks[next].getBoundingClientRect();
      show(next, box.right, box.bottom);
    });
  }

  /* The table can be sorted by its column heads and filtered by text and kind. */
  const table = document.getElementById("uncertain");
  const body = table.tBodies[0];
  const lines = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const value = (line, column) => {
    const cell = line.cells[column];
    const text = cell.dataset.value ?? cell.textContent;
    const number = Number(text.replace(/,/g, ""));
    return text.trim() !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one === "number") return -1;
    if (typeof other === "number") return 1;
    return one.localeCompare(other);
  };
  const limitPrint = () => {  /* only the first rows are printed, in the current order */
    lines.filter((line) => !line.hidden).forEach((line, place) => line.classList.toggle("more", place >= 40));
  };
  heads.forEach((head, column) => {
    const button = element("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending" ||
        (!head.hasAttribute("aria-sort") && typeof value(lines[0], column) === "number");
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      lines.sort((one, other) => (down ? -1 : 1) * compare(value(one, column), value(other, column)));
      body.append(...lines);
      limitPrint();
    });
  });

  const form = document.querySelector(".filter");
  const search = document.getElementById("search");
  const kind = document.getElementById("kind");
  const output = document.getElementById("shown");
  const empty = document.getElementById("empty");
  const filter = () => {
    const word = search.value.trim().toLocaleLowerCase();
    let shown = 0;
    for (const line of lines) {
      const fits = (!kind.value || line.dataset.kind === kind.value) &&
        (!word || line.textContent.toLocaleLowerCase().includes(word));
      line.hidden = !fits;
      shown += fits;
    }
    output.textContent = shown + " of " + lines.length + (lines.length === 1 ? " row" : " rows");
    empty.hidden = shown > 0;
    table.parentElement.hidden = shown === 0;
    limitPrint();
  };
  search.addEventListener("input", filter);
  kind.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
