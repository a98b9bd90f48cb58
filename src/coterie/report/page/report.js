// The report's own script. No library, no network: everything comes from the block of data.
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const n = data.n;

  // --- reading the data ---------------------------------------------------------------------

  const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

  function unpack(packed) {
    const text = atob(packed.d);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new KINDS[packed.t](bytes.buffer);
  }

  const numbers = data.numbers;
  const group = unpack(data.group);
  const confidence = unpack(data.confidence);
  const shown = data.shown ? unpack(data.shown) : new Uint32Array(0);
  const runnerUp = unpack(data.runner_up); // from 1; 0: none
  const truth = data.truth ? unpack(data.truth.codes) : null;
  const fitted = numbers.indexOf(data.fitted);
  let at = fitted;
  const m = shown.length;
  const whereShown = new Map();
  for (let s = 0; s < m; s++) whereShown.set(shown[s], s);

  const name = (i) => (data.ids === null ? String(i) : String(data.ids[i]));
  const className = (i) => (truth === null || truth[i] === 0 ? "" : data.truth.classes[truth[i] - 1]);
  const clusterOf = (i) => data.clusters[group[i]][at];
  const thousands = (x) => x.toLocaleString("en");
  const several = (x, noun) => thousands(x) + " " + noun + (x === 1 ? "" : "s");
  const percent = (x) => Math.round(100 * x) + " %";

  function digits(x) {
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e6 || size < 1e-3) return x.toExponential(1);
    return Number(x.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 4 });
  }

  function element(tag, settings, children) {
    const made = document.createElement(tag);
    for (const key in settings || {}) {
      if (key === "text") made.textContent = settings[key];
      else if (key === "class") made.className = settings[key];
      else made.setAttribute(key, settings[key]);
    }
    for (const child of children || []) made.append(child);
    return made;
  }

  // --- colours ------------------------------------------------------------------------------

  const palette = data.palette.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  const SHAPES = 6;
  const hues = matchColours();
  // After the last colour they repeat, darker and then lighter.
  const TONES = [[0, 0, 0], [0, 0, 0], [255, 255, 255]];
  const colour = (c) => {
    const round = Math.floor(hues[at][c] / palette.length) % TONES.length;
    return mix(palette[hues[at][c] % palette.length], TONES[round], round ? 0.4 : 0);
  };
  const shape = (c) => (hues[at][c] + Math.floor(hues[at][c] / palette.length)) % SHAPES;
  const css = (rgb) => "rgb(" + rgb.map(Math.round).join(",") + ")";
  const mix = (a, b, t) => a.map((x, i) => x + (b[i] - x) * t);
  let printing = false;

  // From one number of clusters to the next a cluster keeps the colour of the one with which it
  // shares most objects, so that moving the slider changes only what changes.
  function matchColours() {
    const sizes = new Float64Array(data.clusters.length);
    for (let i = 0; i < n; i++) sizes[group[i]]++;
    const found = [];
    found[fitted] = Array.from({ length: numbers[fitted] }, (_, c) => c);
    const follow = (from, to) => {
      const shared = new Map();
      data.clusters.forEach((row, g) => {
        const key = row[from] * numbers[to] + row[to];
        shared.set(key, (shared.get(key) || 0) + sizes[g]);
      });
      const pairs = Array.from(shared).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
      const own = new Array(numbers[to]).fill(-1);
      const taken = new Set();
      for (const [key] of pairs) {
        const hue = found[from][Math.floor(key / numbers[to])];
        if (own[key % numbers[to]] >= 0 || taken.has(hue)) continue;
        own[key % numbers[to]] = hue;
        taken.add(hue);
      }
      let free = 0;
      for (let c = 0; c < own.length; c++) {
        if (own[c] >= 0) continue;
        while (taken.has(free)) free++;
        own[c] = free;
        taken.add(free);
      }
      found[to] = own;
    };
    for (let t = fitted; t + 1 < numbers.length; t++) follow(t, t + 1);
    for (let t = fitted; t > 0; t--) follow(t, t - 1);
    return found;
  }

  function isDark() {
    if (printing) return false;
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function theme() {
    return isDark()
      ? { ground: [18, 22, 28], ink: [228, 233, 239], soft: [154, 167, 182], line: [60, 70, 82] }
      : { ground: [255, 255, 255], ink: [27, 36, 48], soft: [86, 98, 115], line: [200, 208, 217] };
  }

  // On a dark ground colours are made lighter, on a light one full agreement a little darker.
  const strong = (c) => (isDark() ? mix(colour(c), [255, 255, 255], 0.3) : colour(c));

  function ramp(ground, top) {
    const levels = new Uint32Array(101);
    for (let v = 0; v <= 100; v++) {
      const [r, g, b] = mix(ground, top, v / 100).map(Math.round);
      levels[v] = (255 << 24) | (b << 16) | (g << 8) | r;
    }
    return levels;
  }

  function fit(canvas, height) {
    const width = canvas.clientWidth || 300;
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round((height || width) * scale);
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height || width);
    return { context, width, height: height || width };
  }

  // --- heat map -----------------------------------------------------------------------------

  const heat = (function () {
    const canvas = $("heat");
    if (!canvas || !data.labels) return null;
    const labels = unpack(data.labels); // object by object: m x L
    const L = data.n_partitions;
    const missing = data.missing;
    const edges = unpack(data.blocks.edges);
    const triangle = unpack(data.blocks.triangle);
    const n_blocks = data.blocks.n;
    const STRIP = 16;
    const MOST = 480; // cells across
    const small = document.createElement("canvas");
    let view = { x: 0, y: 0, size: m };
    let cells = null; // what is drawn now
    let cursor = null; // {row, column} in cells
    let side = 0;
    let contrast = false; // shades by the square root, so that small shares can be seen

    function votes(i, j) {
      let together = 0;
      let both = 0;
      for (let e = 0, a = i * L, b = j * L; e < L; e++, a++, b++) {
        if (labels[a] === missing || labels[b] === missing) continue;
        both++;
        if (labels[a] === labels[b]) together++;
      }
      return [together, both];
    }

    // Cells of a row of objects: positions from (included) to (not included), the middle object,
    // and how many objects the cell stands for.
    function cellsOf(start, size) {
      const count = Math.min(size, MOST);
      const runs = [];
      for (let c = 0; c < count; c++) {
        const from = start + Math.floor((c * size) / count);
        const to = start + Math.floor(((c + 1) * size) / count);
        runs.push({ from, to, middle: (from + to - 1) >> 1, stands: to - from });
      }
      return runs;
    }

    function blockCells() {
      const runs = [];
      for (let b = 0; b < n_blocks; b++) {
        const place = (edges[b] + edges[b + 1] - 1) / 2;
        const middle = n > 1 ? Math.round((place * (m - 1)) / (n - 1)) : 0;
        runs.push({ from: middle, to: middle + 1, middle, stands: edges[b + 1] - edges[b] });
      }
      return runs;
    }

    function compute() {
      if (view.size === m && m > n_blocks) {
        const runs = blockCells();
        const values = new Uint8Array(n_blocks * n_blocks);
        for (let a = 0, t = 0; a < n_blocks; a++)
          for (let b = 0; b <= a; b++, t++) values[a * n_blocks + b] = values[b * n_blocks + a] = triangle[t];
        return { rows: runs, columns: runs, values, exact: true };
      }
      const rows = cellsOf(view.y, view.size);
      const columns = cellsOf(view.x, view.size);
      const values = new Uint8Array(rows.length * columns.length);
      const symmetric = view.x === view.y;
      // Of a cell that stands for many pairs, up to four are looked at.
      const picks = (run) => (run.stands < 2 ? [run.from] : [run.from, run.to - 1]);
      const across = columns.map(picks);
      for (let r = 0; r < rows.length; r++) {
        const down = picks(rows[r]);
        for (let c = symmetric ? r : 0; c < columns.length; c++) {
          let together = 0;
          let both = 0;
          for (const i of down)
            for (const j of across[c]) {
              const found = votes(i, j);
              together += found[0];
              both += found[1];
            }
          const value = both ? Math.round((100 * together) / both) : 0;
          values[r * columns.length + c] = value;
          if (symmetric) values[c * columns.length + r] = value;
        }
      }
      return { rows, columns, values, exact: view.size <= MOST };
    }

    function draw() {
      if (cells === null) cells = compute();
      const look = theme();
      const { context, width } = fit(canvas);
      side = width - STRIP;
      const { rows, columns, values } = cells;
      const ramps = new Map();
      const grey = ramp(look.ground, mix(look.ground, look.soft, 0.95));
      const rampOf = (c) => {
        if (!ramps.has(c)) ramps.set(c, ramp(look.ground, isDark() ? strong(c) : mix(colour(c), [0, 0, 0], 0.12)));
        return ramps.get(c);
      };
      const rowCluster = rows.map((run) => clusterOf(shown[run.middle]));
      const columnCluster = columns.map((run) => clusterOf(shown[run.middle]));
      small.width = columns.length;
      small.height = rows.length;
      const brush = small.getContext("2d");
      const image = brush.createImageData(columns.length, rows.length);
      const pixels = new Uint32Array(image.data.buffer);
      const level = new Uint8Array(101);
      for (let v = 0; v <= 100; v++) level[v] = contrast ? Math.round(10 * Math.sqrt(v)) : v;
      for (let r = 0, p = 0; r < rows.length; r++) {
        const own = rampOf(rowCluster[r]);
        for (let c = 0; c < columns.length; c++, p++)
          pixels[p] = (rowCluster[r] === columnCluster[c] ? own : grey)[level[values[p]]];
      }
      brush.putImageData(image, 0, 0);
      // Where cells are smaller than pixels they are averaged, else they keep their edges.
      context.imageSmoothingEnabled = columns.length > side;
      context.drawImage(small, STRIP, STRIP, side, side);
      strips(context, rowCluster, columnCluster, look);
      context.strokeStyle = css(look.line);
      context.lineWidth = 1;
      context.strokeRect(STRIP + 0.5, STRIP + 0.5, side - 1, side - 1);
      if (cursor) cross(context, look);
    }

    function runsOf(clusters) {
      const runs = [];
      for (let i = 0, start = 0; i < clusters.length; i++)
        if (i + 1 === clusters.length || clusters[i + 1] !== clusters[i]) {
          runs.push({ cluster: clusters[i], start, end: i + 1 });
          start = i + 1;
        }
      return runs;
    }

    function strips(context, rowCluster, columnCluster, look) {
      context.textAlign = "center";
      context.textBaseline = "middle";
      const draw = (clusters, vertical) => {
        const unit = side / clusters.length;
        for (const run of runsOf(clusters)) {
          const from = STRIP + run.start * unit;
          const length = (run.end - run.start) * unit;
          context.fillStyle = css(strong(run.cluster));
          if (vertical) context.fillRect(0, from, STRIP - 3, length);
          else context.fillRect(from, 0, length, STRIP - 3);
          const room = vertical ? length : length / String(run.cluster).length;
          if (room < (vertical ? 9 : 6)) continue;
          context.font = "600 " + (room < (vertical ? 12 : 8) ? 9 : 11) + "px system-ui, sans-serif";
          const [r, g, b] = strong(run.cluster);
          context.fillStyle = 0.3 * r + 0.6 * g + 0.1 * b > 140 ? "#000" : "#fff";
          if (vertical) context.fillText(run.cluster, (STRIP - 3) / 2, from + length / 2);
          else context.fillText(run.cluster, from + length / 2, (STRIP - 3) / 2 + 0.5);
        }
      };
      draw(rowCluster, true);
      draw(columnCluster, false);
      if (view.x !== view.y) return;
      context.strokeStyle = css(look.ink);
      context.lineWidth = 1;
      const unit = side / rowCluster.length;
      for (const run of runsOf(rowCluster)) {
        const length = (run.end - run.start) * unit;
        if (length >= 4) context.strokeRect(STRIP + run.start * unit + 0.5, STRIP + run.start * unit + 0.5, length - 1, length - 1);
      }
    }

    function cross(context, look) {
      const high = side / cells.rows.length;
      const wide = side / cells.columns.length;
      const x = STRIP + cursor.column * wide;
      const y = STRIP + cursor.row * high;
      context.strokeStyle = css(look.ink);
      context.globalAlpha = 0.45;
      context.beginPath();
      context.moveTo(STRIP, y + high / 2);
      context.lineTo(STRIP + side, y + high / 2);
      context.moveTo(x + wide / 2, STRIP);
      context.lineTo(x + wide / 2, STRIP + side);
      context.stroke();
      context.globalAlpha = 1;
      context.lineWidth = 2;
      context.strokeRect(x - 1, y - 1, Math.max(wide, 4) + 2, Math.max(high, 4) + 2);
    }

    function updateReadout() {
      const out = $("heat-readout");
      if (!cursor) {
        out.textContent = out.dataset.hint;
        return;
      }
      const row = cells.rows[cursor.row];
      const column = cells.columns[cursor.column];
      const i = shown[row.middle];
      const j = shown[column.middle];
      const words = (o) => name(o) + " (cluster " + clusterOf(o) + ")";
      const [together, both] = votes(row.middle, column.middle);
      let text;
      if (i === j) text = words(i) + ", confidence " + confidence[i].toFixed(2) + ".";
      else if (!both) text = words(i) + " and " + words(j) + ": no partition saw both.";
      else
        text =
          words(i) + " and " + words(j) + ": together in " + together + " of " +
          several(both, "partition") + " (" + percent(together / both) + ").";
      if (row.stands * column.stands > 1)
        text +=
          " This cell stands for " + thousands(row.stands) + " × " + thousands(column.stands) +
          " pairs: " + (cells.exact ? "" : "about ") + cells.values[cursor.row * cells.columns.length + cursor.column] + " % on average.";
      out.textContent = text;
    }

    function moveTo(row, column) {
      const within = (x, most) => Math.max(0, Math.min(most - 1, x));
      cursor = { row: within(row, cells.rows.length), column: within(column, cells.columns.length) };
      draw();
      updateReadout();
      if (map) map.mark([shown[cells.rows[cursor.row].middle], shown[cells.columns[cursor.column].middle]]);
    }

    function zoom(factor, row, column) {
      const i = cells.rows[Math.min(row, cells.rows.length - 1)].middle;
      const j = cells.columns[Math.min(column, cells.columns.length - 1)].middle;
      const u = row / cells.rows.length;
      const v = column / cells.columns.length;
      const size = Math.max(Math.min(8, m), Math.min(m, Math.round(view.size / factor)));
      show(Math.round(j - v * size), Math.round(i - u * size), size);
      const find = (runs, o) => Math.max(0, runs.findIndex((run) => run.to > o));
      if (cursor) moveTo(find(cells.rows, i), find(cells.columns, j));
    }

    function show(x, y, size) {
      const within = (start) => Math.max(0, Math.min(m - size, start));
      view = { x: within(x), y: within(y), size };
      cells = compute();
      if (cursor) {
        cursor.row = Math.min(cursor.row, cells.rows.length - 1);
        cursor.column = Math.min(cursor.column, cells.columns.length - 1);
      }
      $("heat-whole").disabled = size === m;
      $("heat-out").disabled = size === m;
      $("heat-in").disabled = size <= Math.min(8, m);
      draw();
      updateReadout();
    }

    function cellAt(event) {
      const box = canvas.getBoundingClientRect();
      const x = event.clientX - box.left - STRIP;
      const y = event.clientY - box.top - STRIP;
      return {
        row: Math.max(0, Math.floor((y / side) * cells.rows.length)),
        column: Math.max(0, Math.floor((x / side) * cells.columns.length)),
      };
    }

    let drag = null;
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const step = view.size / side;
        const x = Math.round(drag.x - (event.clientX - drag.fromX) * step);
        const y = Math.round(drag.y - (event.clientY - drag.fromY) * step);
        if (x !== view.x || y !== view.y) show(x, y, view.size);
        return;
      }
      const cell = cellAt(event);
      if (!cursor || cell.row !== cursor.row || cell.column !== cursor.column) moveTo(cell.row, cell.column);
    });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus({ preventScroll: true });
      const cell = cellAt(event);
      moveTo(cell.row, cell.column);
      if (view.size < m) {
        drag = { fromX: event.clientX, fromY: event.clientY, x: view.x, y: view.y };
        canvas.setPointerCapture(event.pointerId);
      }
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (drag = null));
    canvas.addEventListener("pointerleave", () => {
      if (document.activeElement === canvas) return;
      cursor = null;
      draw();
      updateReadout();
      if (map) map.mark([]);
    });
    canvas.addEventListener("dblclick", (event) => {
      const cell = cellAt(event);
      zoom(2, cell.row, cell.column);
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        // Zoom only where the picture has the focus; otherwise the wheel scrolls the page.
        if (document.activeElement !== canvas && !event.ctrlKey) return;
        event.preventDefault();
        const cell = cellAt(event);
        zoom(event.deltaY < 0 ? 1.25 : 0.8, cell.row, cell.column);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const here = cursor || { row: cells.rows.length >> 1, column: cells.columns.length >> 1 };
      const step = event.shiftKey ? 10 : 1;
      const moves = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step] };
      if (event.key in moves) {
        const [down, right] = moves[event.key];
        const row = here.row + down;
        const column = here.column + right;
        const outside = (x, most) => (x < 0 ? x : x >= most ? x - most + 1 : 0);
        const over = outside(row, cells.rows.length);
        const beside = outside(column, cells.columns.length);
        if ((over || beside) && view.size < m) show(view.x + beside, view.y + over, view.size);
        moveTo(row, column);
      } else if (event.key === "+" || event.key === "=" || event.key === "-") {
        moveTo(here.row, here.column);
        zoom(event.key === "-" ? 0.5 : 2, here.row, here.column);
      } else if (event.key === "0" || event.key === "Home") show(0, 0, m);
      else return;
      event.preventDefault();
    });
    canvas.addEventListener("blur", () => {
      cursor = null;
      draw();
      updateReadout();
      if (map) map.mark([]);
    });
    const middle = (factor) => () => {
      const here = cursor || { row: cells.rows.length >> 1, column: cells.columns.length >> 1 };
      zoom(factor, here.row, here.column);
    };
    $("heat-in").addEventListener("click", middle(2));
    $("heat-out").addEventListener("click", middle(0.5));
    $("heat-whole").addEventListener("click", () => show(0, 0, m));
    $("heat-contrast").addEventListener("click", (event) => {
      contrast = !contrast;
      event.target.setAttribute("aria-pressed", contrast);
      draw();
    });

    function point(i) {
      const s = whereShown.get(i);
      if (s === undefined) return false;
      if (s < view.y || s >= view.y + view.size || s < view.x || s >= view.x + view.size)
        show(Math.round(s - view.size / 2), Math.round(s - view.size / 2), view.size);
      let best = 0;
      cells.rows.forEach((run, r) => {
        if (Math.abs(run.middle - s) < Math.abs(cells.rows[best].middle - s)) best = r;
      });
      cursor = { row: best, column: best };
      draw();
      updateReadout();
      return true;
    }

    $("heat-whole").disabled = $("heat-out").disabled = true;
    return { draw, point, updateReadout };
  })();

  // --- map of the objects -------------------------------------------------------------------

  const map = makeMap($("map"), $("map-readout"));
  const spot = makeMap($("spot"), null); // the same beside the table

  function roundTicks(low, high) {
    if (!(high > low)) return [];
    const rough = (high - low) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((s) => power * s >= rough * 0.999);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) ticks.push(i * step);
    return ticks;
  }

  function shortened(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    let length = text.length;
    while (length > 1 && context.measureText(text.slice(0, length) + "…").width > width) length--;
    return text.slice(0, length) + "…";
  }

  function makeMap(canvas, readout) {
    if (!canvas || !data.projection) return null;
    const x = unpack(data.projection.x);
    const y = unpack(data.projection.y);
    const [acrossName, upName] = data.projection.axes;
    const measured = data.projection.measured;
    const range = (values) => {
      let low = Infinity;
      let high = -Infinity;
      for (const v of values) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
      return [low, high > low ? high - low : 1];
    };
    const [lowX, wideX] = range(x);
    const [lowY, wideY] = range(y);
    const PAD = 14;
    const LEFT = measured ? 46 : 24; // room for the names of the axes, and numbers if they have any
    const BOTTOM = measured ? 38 : 24;
    let size = { width: 300, height: 300 };
    let marked = [];
    let reading = -1;
    let highlighted = -1; // the cluster that is drawn strongly; -1: all
    const px = (s) => LEFT + PAD + ((x[s] - lowX) / wideX) * (size.width - LEFT - 2 * PAD);
    const py = (s) => size.height - BOTTOM - PAD - ((y[s] - lowY) / wideY) * (size.height - BOTTOM - 2 * PAD);

    function mark(context, c, cx, cy, r) {
      context.beginPath();
      switch (shape(c)) {
        case 0: context.arc(cx, cy, r, 0, 6.2832); break;
        case 1: context.rect(cx - r * 0.9, cy - r * 0.9, r * 1.8, r * 1.8); break;
        case 2: context.moveTo(cx, cy - r * 1.2); context.lineTo(cx + r * 1.1, cy + r * 0.8); context.lineTo(cx - r * 1.1, cy + r * 0.8); break;
        case 3: context.moveTo(cx, cy - r * 1.3); context.lineTo(cx + r * 1.3, cy); context.lineTo(cx, cy + r * 1.3); context.lineTo(cx - r * 1.3, cy); break;
        case 4: context.moveTo(cx, cy + r * 1.2); context.lineTo(cx + r * 1.1, cy - r * 0.8); context.lineTo(cx - r * 1.1, cy - r * 0.8); break;
        default: context.rect(cx - r * 1.3, cy - r * 0.45, r * 2.6, r * 0.9); context.rect(cx - r * 0.45, cy - r * 1.3, r * 0.9, r * 2.6);
      }
      context.closePath();
      context.fill();
    }

    function axes(context, look) {
      const right = size.width - 0.5;
      const bottom = size.height - BOTTOM - 0.5;
      context.strokeStyle = css(look.line);
      context.lineWidth = 1;
      context.strokeRect(LEFT + 0.5, 0.5, right - LEFT - 0.5, bottom - 0.5);
      context.fillStyle = css(look.soft);
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "alphabetic";
      context.fillText(shortened(context, acrossName, right - LEFT), (LEFT + right) / 2, size.height - 6);
      context.save();
      context.translate(11, bottom / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(shortened(context, upName, bottom), 0, 0);
      context.restore();
      if (!measured) return;
      for (const tick of roundTicks(lowX, lowX + wideX)) {
        const at = LEFT + PAD + ((tick - lowX) / wideX) * (size.width - LEFT - 2 * PAD);
        context.fillText(digits(tick), at, bottom + 14);
        context.fillRect(at, bottom, 1, 4);
      }
      if (!upName) return;
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (const tick of roundTicks(lowY, lowY + wideY)) {
        const at = bottom - PAD - ((tick - lowY) / wideY) * (size.height - BOTTOM - 2 * PAD);
        context.fillText(digits(tick), LEFT - 6, at);
        context.fillRect(LEFT - 4, at, 4, 1);
      }
    }

    function draw() {
      const look = theme();
      const width = canvas.clientWidth || 300;
      const drawn = fit(canvas, Math.round(width * 0.9));
      const context = drawn.context;
      size = { width: drawn.width, height: drawn.height };
      axes(context, look);
      const r = m <= 300 ? 4 : m <= 1500 ? 3 : 2;
      const full = m <= 300 ? 0.85 : 0.65;
      for (let s = 0; s < m; s++) {
        const c = clusterOf(shown[s]);
        context.globalAlpha = highlighted < 0 || c === highlighted ? full : 0.08;
        context.fillStyle = css(strong(c));
        mark(context, c, px(s), py(s), r);
      }
      context.globalAlpha = 1;
      number(context, look);
      context.strokeStyle = css(look.ink);
      for (const i of marked) {
        const s = whereShown.get(i);
        if (s === undefined) continue;
        context.fillStyle = css(strong(clusterOf(i)));
        mark(context, clusterOf(i), px(s), py(s), r + 1.5);
        context.lineWidth = 2;
        context.beginPath();
        context.arc(px(s), py(s), r + 6, 0, 6.2832);
        context.stroke();
      }
      if (marked.length === 1 && whereShown.has(marked[0])) lines(context, whereShown.get(marked[0]), r);
    }

    // Lines from the frame to a single marked object: a ring alone is hard to find.
    function lines(context, s, r) {
      context.lineWidth = 1;
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(LEFT, py(s));
      context.lineTo(px(s) - r - 6, py(s));
      context.moveTo(px(s), size.height - BOTTOM);
      context.lineTo(px(s), py(s) + r + 6);
      context.stroke();
      context.globalAlpha = 1;
    }

    // The number of a cluster is drawn at the object nearest to the cluster's median, which lies in
    // the cluster even if it is bent. Of numbers that overlap, that of the larger cluster is drawn.
    function number(context, look) {
      const members = new Map();
      for (let s = 0; s < m; s++) {
        const c = clusterOf(shown[s]);
        if (!members.has(c)) members.set(c, []);
        members.get(c).push(s);
      }
      const high = members.size > 10 ? 12 : 14;
      context.font = "700 " + high + "px system-ui, sans-serif";
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.lineJoin = "round";
      const median = (list, f) => list.map(f).sort((a, b) => a - b)[list.length >> 1];
      const taken = [];
      for (const c of Array.from(members.keys()).sort((a, b) => a - b)) {
        const list = members.get(c);
        if (highlighted >= 0 && c !== highlighted) continue;
        const mx = median(list, px);
        const my = median(list, py);
        const far = (s) => (px(s) - mx) ** 2 + (py(s) - my) ** 2;
        const best = list.reduce((a, b) => (far(b) < far(a) ? b : a));
        const cx = px(best);
        const cy = py(best);
        const wide = context.measureText(c).width;
        if (taken.some((t) => Math.abs(t.cx - cx) < (t.wide + wide) / 2 && Math.abs(t.cy - cy) < high * 0.8)) continue;
        taken.push({ cx, cy, wide });
        context.strokeStyle = css(look.ground);
        context.lineWidth = 4;
        context.strokeText(c, cx, cy);
        context.fillStyle = css(look.ink);
        context.fillText(c, cx, cy);
      }
    }

    function updateReadout(s) {
      reading = s;
      marked = s < 0 ? [] : [shown[s]];
      readout.textContent = s < 0 ? readout.dataset.hint : described(shown[s]) + ".";
      draw();
    }

    if (readout) {
      canvas.addEventListener("pointermove", (event) => {
        const box = canvas.getBoundingClientRect();
        const mx = event.clientX - box.left;
        const my = event.clientY - box.top;
        let best = -1;
        let nearest = 400;
        for (let s = 0; s < m; s++) {
          const d = (px(s) - mx) ** 2 + (py(s) - my) ** 2;
          if (d < nearest) {
            nearest = d;
            best = s;
          }
        }
        if (best !== reading) updateReadout(best);
      });
      canvas.addEventListener("pointerleave", () => {
        if (document.activeElement !== canvas) updateReadout(-1);
      });
      canvas.addEventListener("blur", () => updateReadout(-1));
      const byX = Array.from(shown.keys()).sort((a, b) => x[a] - x[b] || a - b);
      canvas.addEventListener("keydown", (event) => {
        const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        if (!(event.key in steps) || !m) return;
        event.preventDefault();
        const step = steps[event.key] * (event.shiftKey ? 10 : 1);
        const here = reading < 0 ? (step > 0 ? -1 : m) : byX.indexOf(reading);
        updateReadout(byX[Math.max(0, Math.min(m - 1, here + step))]);
      });
      readout.textContent = readout.dataset.hint;
    }
    return {
      draw,
      setReadout(words) {
        readout.textContent = words;
      },
      mark(objects) {
        marked = objects;
        draw();
      },
      highlight(cluster) {
        highlighted = cluster;
        draw();
      },
    };
  }

  function described(i) {
    let text = name(i) + ": cluster " + clusterOf(i) + ", confidence " + confidence[i].toFixed(2);
    if (at === fitted && runnerUp[i] > 0) text += ", runner-up cluster " + (runnerUp[i] - 1);
    return text + (className(i) ? ", known class " + className(i) : "");
  }

  if (map) {
    let lowerNames = null;
    const find = (text, from) => {
      const wanted = text.trim().toLowerCase();
      if (!wanted) return [-1, 0];
      if (lowerNames === null) lowerNames = Array.from({ length: n }, (_, i) => name(i).toLowerCase());
      const whole = lowerNames.indexOf(wanted);
      const hits = whole >= 0 ? [whole] : lowerNames.flatMap((words, i) => (words.includes(wanted) ? [i] : []));
      return [hits.length ? hits[from % hits.length] : -1, hits.length];
    };
    let turn = 0;
    const search = () => {
      const [i, hits] = find($("find").value, turn);
      if (i < 0) {
        map.mark([]);
        map.setReadout($("find").value.trim() ? "No object of this name." : $("map-readout").dataset.hint);
        return;
      }
      map.mark([i]);
      if (heat) heat.point(i);
      const more = hits > 1 ? " (" + ((turn % hits) + 1) + " of " + thousands(hits) + "; Enter for the next)" : "";
      map.setReadout(described(i) + more + (whereShown.has(i) ? "." : ". It is not among the objects that are drawn."));
    };
    $("find").addEventListener("input", () => {
      turn = 0;
      search();
    });
    $("find").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      turn++;
      search();
    });
    $("map-cluster").addEventListener("change", (event) =>
      map.highlight(event.target.value === "" ? -1 : Number(event.target.value)),
    );
  }

  // --- clusters and profiles ----------------------------------------------------------------

  function swatch(c) {
    const made = element("span", { class: "swatch shape" + shape(c), "aria-hidden": "true" });
    made.style.background = css(strong(c));
    return made;
  }

  function clusterCell(c) {
    return element("td", { class: "n" }, [swatch(c), " " + c]);
  }

  function drawClusters() {
    const body = $("clusters-body");
    const k = numbers[at];
    const sizes = new Float64Array(k);
    const total = new Float64Array(k);
    const least = new Float64Array(k).fill(Infinity);
    for (let i = 0; i < n; i++) {
      const c = clusterOf(i);
      sizes[c]++;
      total[c] += confidence[i];
      if (confidence[i] < least[c]) least[c] = confidence[i];
    }
    const most = Math.max(...sizes.slice(0, 50));
    body.replaceChildren();
    for (let c = 0; c < Math.min(k, 50); c++) {
      const bar = element("span", { class: "bar" });
      bar.style.width = (100 * sizes[c]) / most + "%";
      bar.style.background = css(strong(c));
      body.append(
        element("tr", {}, [
          clusterCell(c),
          element("td", { class: "n", text: thousands(sizes[c]) }),
          element("td", { class: "wide" }, [bar]),
          element("td", { class: "n", text: (total[c] / sizes[c]).toFixed(2) }),
          element("td", { class: "n", text: least[c].toFixed(2) }),
        ]),
      );
    }
    $("clusters-rest").textContent = k > 50 ? "The 50 largest of " + thousands(k) + " clusters." : "";
  }

  function drawProfiles() {
    const table = $("profiles");
    if (!table || !data.profiles) return;
    const p = data.profiles;
    const means = p.by_number[at].mean;
    const head = element("tr", {}, [
      element("th", { text: "Feature", scope: "col" }),
      element("th", { text: "All objects", class: "n", scope: "col" }),
    ]);
    means.forEach((_, c) => head.append(element("th", { class: "n", scope: "col" }, [swatch(c), " " + c])));
    const body = element("tbody");
    p.features.forEach((feature, f) => {
      const row = element("tr", {}, [
        element("th", { class: "name", text: feature, scope: "row" }),
        element("td", { class: "n soft", text: digits(p.mean[f]) + " ± " + digits(p.std[f]) }),
      ]);
      for (const mean of means) {
        const z = p.std[f] > 0 ? (mean[f] - p.mean[f]) / p.std[f] : 0;
        const cell = element("td", {
          class: "n",
          text: (z > 0.5 ? "▲ " : z < -0.5 ? "▼ " : "") + digits(mean[f]),
          title: (z >= 0 ? "+" : "−") + Math.abs(z).toFixed(2) + " standard deviations",
        });
        const shade = Math.min(Math.abs(z) / 2, 1) * 0.55;
        cell.style.background = (z > 0 ? "rgba(0,114,178," : "rgba(230,159,0,") + shade.toFixed(3) + ")";
        row.append(cell);
      }
      body.append(row);
    });
    table.replaceChildren(element("thead", {}, [head]), body);
    $("profiles-rest").textContent =
      numbers[at] > means.length ? "The " + means.length + " largest of " + thousands(numbers[at]) + " clusters." : "";
  }

  function drawClasses() {
    const table = $("classes");
    if (!table || truth === null) return;
    const k = Math.min(numbers[at], 30);
    const classes = data.truth.classes.slice(0, 30);
    const counts = classes.map(() => new Float64Array(k));
    for (let i = 0; i < n; i++) {
      const c = clusterOf(i);
      if (truth[i] > 0 && truth[i] <= classes.length && c < k) counts[truth[i] - 1][c]++;
    }
    const head = element("tr", {}, [element("th", { text: "Known class", scope: "col" })]);
    for (let c = 0; c < k; c++) head.append(element("th", { class: "n", scope: "col" }, [swatch(c), " " + c]));
    const body = element("tbody");
    classes.forEach((words, row) => {
      const total = counts[row].reduce((a, b) => a + b, 0) || 1;
      const line = element("tr", {}, [element("th", { class: "name", text: words, scope: "row" })]);
      for (const count of counts[row]) {
        const cell = element("td", { class: "n", text: count ? thousands(count) : "·" });
        cell.style.background = "rgba(0,114,178," + ((0.5 * count) / total).toFixed(3) + ")";
        line.append(cell);
      }
      body.append(line);
    });
    table.replaceChildren(element("thead", {}, [head]), body);
  }

  // --- table of objects ---------------------------------------------------------------------

  const objects = (function () {
    const PAGE = 20;
    const body = $("objects-body");
    let order = Array.from({ length: n }, (_, i) => i);
    let rows = order;
    let sorted = { by: "confidence", down: false };
    let page = 0;
    let wanted = "";
    let cluster = "";
    let lower = null;
    const collator = new Intl.Collator("en", { numeric: true });
    const byText = (text) =>
      n > 20000
        ? (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0)
        : (a, b) => collator.compare(text(a), text(b));
    const comparers = {
      id: data.ids === null ? (a, b) => a - b : byText(name),
      cluster: (a, b) => clusterOf(a) - clusterOf(b),
      confidence: (a, b) => confidence[a] - confidence[b],
      truth: byText(className),
    };

    function sort() {
      const compare = comparers[sorted.by];
      const sign = sorted.down ? -1 : 1;
      order.sort((a, b) => sign * compare(a, b) || a - b);
      for (const button of document.querySelectorAll("#objects button[data-by]")) {
        const heading = button.closest("th");
        const own = button.dataset.by === sorted.by;
        heading.setAttribute("aria-sort", !own ? "none" : sorted.down ? "descending" : "ascending");
      }
    }

    function search() {
      if (lower === null && wanted)
        lower = order.slice().sort((a, b) => a - b).map((i) => (name(i) + "\n" + className(i)).toLowerCase());
      const number = cluster === "" ? -1 : Number(cluster);
      rows =
        wanted || number >= 0
          ? order.filter((i) => (!wanted || lower[i].includes(wanted)) && (number < 0 || clusterOf(i) === number))
          : order;
      page = 0;
    }

    function draw() {
      const pages = Math.max(1, Math.ceil(rows.length / PAGE));
      page = Math.max(0, Math.min(page, pages - 1));
      body.replaceChildren();
      for (const i of rows.slice(page * PAGE, (page + 1) * PAGE)) {
        const button = element("button", { class: "plain", type: "button", text: name(i), title: "Show it in the pictures" });
        button.addEventListener("click", () => point(i));
        const cells = [
          element("td", { class: "name" }, [button]),
          clusterCell(clusterOf(i)),
          element("td", { class: "n", text: confidence[i].toFixed(3) }),
          at === fitted && runnerUp[i] > 0
            ? clusterCell(runnerUp[i] - 1)
            : element("td", { class: "n", text: at === fitted ? "" : "–" }),
        ];
        if (truth !== null) cells.push(element("td", { class: "name", text: className(i) }));
        body.append(element("tr", { "data-object": i }, cells));
      }
      const from = rows.length ? page * PAGE + 1 : 0;
      $("objects-count").textContent =
        thousands(from) + " to " + thousands(Math.min(rows.length, (page + 1) * PAGE)) + " of " +
        several(rows.length, "object") + (rows.length < n ? " (of " + thousands(n) + ")" : "");
      $("objects-first").disabled = $("objects-back").disabled = page === 0;
      $("objects-next").disabled = $("objects-last").disabled = page >= pages - 1;
    }

    function point(i) {
      const there = heat ? heat.point(i) : false;
      for (const picture of [map, spot]) if (picture) picture.mark([i]);
      $("objects-told").textContent =
        described(i) + (there ? ". It is marked in the pictures." : ". It is not among the objects that are drawn.");
      for (const row of body.rows) row.classList.toggle("pressed", row.dataset.object === String(i));
      $("spot-place").scrollIntoView({ block: "nearest" });
    }

    for (const button of document.querySelectorAll("#objects button[data-by]"))
      button.addEventListener("click", () => {
        const by = button.dataset.by;
        sorted = { by, down: sorted.by === by ? !sorted.down : false };
        sort();
        search();
        draw();
      });
    let waiting = 0;
    $("objects-search").addEventListener("input", (event) => {
      wanted = event.target.value.trim().toLowerCase();
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        search();
        draw();
      }, n > 20000 ? 150 : 0);
    });
    $("objects-cluster").addEventListener("change", (event) => {
      cluster = event.target.value;
      search();
      draw();
    });
    const turn = (to) => () => {
      page = to();
      draw();
    };
    $("objects-first").addEventListener("click", turn(() => 0));
    $("objects-back").addEventListener("click", turn(() => page - 1));
    $("objects-next").addEventListener("click", turn(() => page + 1));
    $("objects-last").addEventListener("click", turn(() => Infinity));

    function renumber() {
      offerClusters($("objects-cluster"));
      cluster = "";
      if (sorted.by === "cluster") sort();
      search();
      draw();
    }

    sort();
    return { renumber };
  })();

  // --- the number of clusters ---------------------------------------------------------------

  function offerClusters(select) {
    select.replaceChildren(element("option", { value: "", text: "all clusters" }));
    for (let c = 0; c < Math.min(numbers[at], 200); c++)
      select.append(element("option", { value: c, text: "cluster " + c }));
  }

  const inTitle = document.title.slice(several(data.fitted, "cluster").length);

  // Title, tiles and scores at the number of the slider.
  function drawFacts() {
    const words = several(numbers[at], "cluster");
    const rounded = (value, places) => (value === null || value === undefined ? "–" : value.toFixed(places));
    document.title = words + inTitle;
    $("title-number").textContent = words;
    $("fact-clusters").textContent = thousands(numbers[at]);
    $("fact-confidence").textContent = rounded(data.agreement[at].confidence, 2);
    $("fact-anmi").textContent = rounded(data.agreement[at].anmi, 2);
    if (!data.scores) return;
    $("fact-nmi").textContent = rounded(data.scores[at].nmi, 2);
    $("scores-number").textContent = words;
    for (const cell of document.querySelectorAll("[data-score]"))
      cell.textContent = rounded(data.scores[at][cell.dataset.score], 3);
  }

  const slider = $("k");

  function setNumber(index) {
    at = index;
    const k = numbers[at];
    if (slider) {
      slider.value = at;
      slider.setAttribute("aria-valuetext", several(k, "cluster"));
      $("k-less").disabled = at === 0;
      $("k-more").disabled = at === numbers.length - 1;
      $("k-own").disabled = at === fitted;
    }
    $("k-words").textContent = several(k, "cluster");
    $("k-how").textContent = at === fitted ? $("k-how").dataset.own : data.words;
    for (const mark of document.querySelectorAll("[data-number]"))
      mark.classList.toggle("now", Number(mark.dataset.number) === k);
    for (const words of document.querySelectorAll(".at-number"))
      words.textContent = at === fitted ? "" : " (at " + several(data.fitted, "cluster") + ")";
    if (map) {
      offerClusters($("map-cluster"));
      map.highlight(-1);
    }
    drawFacts();
    redraw();
    objects.renumber();
    drawClusters();
    drawProfiles();
    drawClasses();
    if (heat) heat.updateReadout();
  }

  function redraw() {
    if (heat) heat.draw();
    if (map) map.draw();
    if (spot) spot.draw();
  }

  if (slider) {
    slider.addEventListener("input", () => setNumber(Number(slider.value)));
    $("k-less").addEventListener("click", () => setNumber(Math.max(0, at - 1)));
    $("k-more").addEventListener("click", () => setNumber(Math.min(numbers.length - 1, at + 1)));
    $("k-own").addEventListener("click", () => setNumber(fitted));
  }

  // --- download and copy --------------------------------------------------------------------

  // Text that a spreadsheet would run as a formula gets a quote in front.
  function field(text) {
    if (/^'*[=+\-@\t\r]/.test(text) && !(text.trim() !== "" && isFinite(text))) text = "'" + text;
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }

  function csv() {
    const heading = [data.ids === null ? "row" : "id", "cluster"];
    // Confidence belongs to the fitted number: beside other labels it would mislead.
    if (at === fitted) heading.push("confidence");
    if (truth !== null) heading.push("truth");
    if (at === fitted) heading.push("runner_up");
    const lines = [heading.join(",")];
    for (let i = 0; i < n; i++) {
      let line = field(name(i)) + "," + clusterOf(i);
      if (at === fitted) line += "," + confidence[i].toFixed(6);
      if (truth !== null) line += "," + field(className(i));
      if (at === fitted) line += "," + (runnerUp[i] > 0 ? runnerUp[i] - 1 : "");
      lines.push(line);
    }
    return lines.join("\n") + "\n";
  }

  function save(text, file) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    const link = element("a", { href: address, download: file });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  $("download").addEventListener("click", () => {
    save(csv(), at === fitted ? "labels.csv" : "labels-" + numbers[at] + "-clusters.csv");
  });

  if (data.features) {
    const columns = ["cluster", "feature", "mean", "rest", "difference", "effect", "p_value", "fdr"];
    $("features-download").addEventListener("click", () => {
      const lines = data.features.clusters
        .flat()
        .map((row) => columns.map((c) => (c === "feature" ? field(row[c]) : (row[c] ?? ""))).join(","));
      save([columns.join(","), ...lines].join("\n") + "\n", "features.csv");
    });
  }

  $("copy").addEventListener("click", async () => {
    const references = Array.from(document.querySelectorAll("#references li"), (li) => li.textContent.trim());
    const text = $("methods").textContent.trim() + "\n\n" + references.join("\n") + "\n";
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = element("textarea", {});
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    $("copied").textContent = done ? "Copied." : "The browser refused; select the text instead.";
  });

  // --- other tables, theme, window ----------------------------------------------------------

  for (const table of document.querySelectorAll("table.sortable")) {
    const collator = new Intl.Collator("en", { numeric: true });
    table.querySelectorAll("th button").forEach((button) => {
      button.addEventListener("click", () => {
        const heading = button.closest("th");
        const column = Array.from(heading.parentNode.children).indexOf(heading);
        const down = heading.getAttribute("aria-sort") === "ascending";
        for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const value = (row) => {
          const cell = row.children[column];
          return cell.dataset.value !== undefined ? cell.dataset.value : cell.textContent.trim();
        };
        const compare = (a, b) => {
          const u = value(a);
          const v = value(b);
          if (u === "" || v === "") return u === v ? 0 : u === "" ? 1 : -1; // nothing: last
          const both = Number(u) - Number(v);
          return (down ? -1 : 1) * (Number.isNaN(both) ? collator.compare(u, v) : both);
        };
        body.append(...Array.from(body.rows).sort(compare));
      });
    });
  }

  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    setNumber(at);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setNumber(at));
  let resizing = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(resizing);
    resizing = requestAnimationFrame(redraw);
  });
  addEventListener("beforeprint", () => {
    printing = true;
    setNumber(at);
  });
  addEventListener("afterprint", () => {
    printing = false;
    setNumber(at);
  });

  setNumber(at);
  document.documentElement.dataset.ready = "yes";
})();
