// A small 3-D player: robots of round shapes on a canvas, turned with the mouse, with timelines under them.
"use strict";

function decode(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

function turn(q, v) {
  // v turned by the unit quaternion q = (w, x, y, z).
  const [w, x, y, z] = q;
  const a = 2 * (y * v[2] - z * v[1]);
  const b = 2 * (z * v[0] - x * v[2]);
  const c = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * a + y * c - z * b, v[1] + w * b + z * a - x * c, v[2] + w * c + x * b - y * a];
}

function compose(p, q) {
  return [
    p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
    p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
    p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
    p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
  ];
}

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const shaded = (rgb, light) => `rgb(${rgb.map((part) => Math.max(0, Math.min(255, Math.round(part * light)))).join(",")})`;

class Player {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.actors = data.actors.map((actor) => ({ ...actor, numbers: decode(actor.poses) }));
    this.count = Math.max(...this.actors.map((actor) => actor.frames));
    this.frame = 0;
    this.position = 0; // frames, and parts of one while playing
    this.playing = false;
    this.speed = 1;
    this.azimuth = data.azimuth + 0.6;
    this.elevation = 0.22;
    this.distance = 3.7;
    this.view = root.querySelector("canvas.view");
    this.lines = root.querySelector("canvas.lines");
    this.slider = root.querySelector("input[type=range]");
    this.button = root.querySelector("button");
    this.clock = root.querySelector(".clock");
    this.slider.max = this.count - 1;
    this.connect();
    new ResizeObserver(() => this.paint()).observe(root);
    for (const media of ["print", "(prefers-color-scheme: dark)"]) {
      window.matchMedia(media).addEventListener("change", () => this.paint());
    }
    this.paint();
  }

  connect() {
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    this.button.addEventListener("click", () => this.toggle());
    this.root.querySelector("select").addEventListener("change", (event) => (this.speed = Number(event.target.value)));
    this.root.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key === " " && event.target === this.view) { event.preventDefault(); this.toggle(); }
      if (event.key in steps && event.target === this.view) { event.preventDefault(); this.seek(this.frame + steps[event.key]); }
    });
    this.view.addEventListener("pointerdown", (event) => this.view.setPointerCapture(event.pointerId));
    this.view.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      this.azimuth -= event.movementX * 0.008;
      this.elevation = Math.max(-0.05, Math.min(1.4, this.elevation + event.movementY * 0.006));
      this.paint();
    });
    this.view.addEventListener("wheel", (event) => {
      if (document.activeElement !== this.view) return; // the page scrolls past a scene nobody has touched
      event.preventDefault();
      this.distance = Math.max(1.5, Math.min(12, this.distance * Math.exp(event.deltaY * 0.001)));
      this.paint();
    }, { passive: false });
    if (!this.lines) return;
    const scrub = (event) => {
      const { left, width } = this.lines.getBoundingClientRect();
      const share = (event.clientX - left - MARGIN) / (width - MARGIN - 8);
      this.seek(Math.round(Math.max(0, Math.min(1, share)) * (this.count - 1)));
    };
    this.lines.addEventListener("pointerdown", scrub);
    this.lines.addEventListener("pointermove", (event) => event.buttons && scrub(event));
  }

  toggle() {
    this.playing = !this.playing;
    this.button.textContent = this.playing ? "Pause" : "Play";
    this.button.setAttribute("aria-pressed", this.playing);
    if (!this.playing) return;
    if (this.frame >= this.count - 1) this.seek(0);
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.position += (Math.max(0, now - last) / 1000) * this.data.rate * this.speed;
      last = now;
      if (this.position >= this.count) this.position = 0;
      this.show(Math.floor(this.position));
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  seek(frame) {
    this.position = Math.max(0, Math.min(this.count - 1, frame));
    this.show(this.position);
  }

  show(frame) {
    if (frame === this.frame) return;
    this.frame = frame;
    this.slider.value = frame;
    this.paint();
  }

  paint() {
    const style = getComputedStyle(this.root);
    this.colours = Object.fromEntries(["ink", "faint", "grid", "shadow", "lift"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.clock.textContent = `${(this.frame / this.data.rate).toFixed(2)} s`;
    this.paintScene();
    if (this.lines) this.paintLines();
  }

  sized(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return { pen, width, height };
  }

  // The scene

  body(actor, body) {
    const row = Math.min(this.frame, actor.frames - 1);
    const start = (row * this.data.bodies + body) * 7;
    const n = actor.numbers;
    const place = [n[start] / 1000, n[start + 1] / 1000, n[start + 2] / 1000];
    const q = [n[start + 3], n[start + 4], n[start + 5], n[start + 6]].map((part) => part / 32767);
    return [add(place, actor.shift), q];
  }

  project(point, size) {
    const [dx, dy, dz] = [point[0] - this.aim[0], point[1] - this.aim[1], point[2] - this.aim[2]];
    const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
    const ahead = dx * ca + dy * sa;
    const depth = this.distance - (ahead * ce + dz * se);
    const scale = (1.55 * size.height) / Math.max(0.2, depth);
    return { x: size.width / 2 + (-dx * sa + dy * ca) * scale, y: size.height / 2 - (dz * ce - ahead * se) * scale, depth, scale };
  }

  paintScene() {
    const size = this.sized(this.view);
    const roots = this.actors.map((actor) => this.body(actor, 0)[0]);
    const middle = [0, 1].map((axis) => roots.reduce((sum, root) => sum + root[axis], 0) / roots.length);
    this.aim = [...middle, 0.72];
    this.paintFloor(size);
    const things = [];
    for (const actor of this.actors) this.addRobot(things, actor, size);
    for (const box of this.data.boxes) things.push(this.box(box.place, box.turn, box.size, [196, 173, 138], size));
    things.sort((a, b) => b.depth - a.depth);
    for (const thing of things) thing.shadow?.(size.pen);
    for (const thing of things) thing.draw(size.pen);
    this.paintNames(size, roots);
  }

  paintFloor(size) {
    const { pen } = size;
    const reach = 4;
    const [cx, cy] = [Math.round(this.aim[0]), Math.round(this.aim[1])];
    pen.strokeStyle = this.colours.grid;
    pen.lineWidth = 1;
    for (let k = -2 * reach; k <= 2 * reach; k++) {
      for (const swap of [false, true]) {
        const ends = [-reach, reach].map((end) => (swap ? [cx + end, cy + k / 2, 0] : [cx + k / 2, cy + end, 0]));
        const [a, b] = ends.map((end) => this.project(end, size));
        if (a.depth < 0.3 || b.depth < 0.3) continue;
        pen.beginPath();
        pen.moveTo(a.x, a.y);
        pen.lineTo(b.x, b.y);
        pen.stroke();
      }
    }
  }

  addRobot(things, actor, size) {
    const lift = Number(this.colours.lift); // dark parts would vanish on a dark page
    for (const shape of this.data.shapes) {
      const [place, q] = this.body(actor, shape.body);
      const centre = add(place, turn(q, shape.place));
      const orientation = compose(q, shape.turn);
      const rgb = shape.dark ? shape.rgb.map((part) => part + lift) : actor.rgb;
      if (shape.kind === "box") things.push(this.box(centre, orientation, shape.size, rgb, size));
      else things.push(this.bar(centre, turn(orientation, shape.half), shape.radius, rgb, size));
    }
  }

  bar(centre, half, radius, rgb, size) {
    const ends = [add(centre, half), add(centre, half.map((part) => -part))];
    const [a, b] = ends.map((end) => this.project(end, size));
    const stroke = (pen, from, to, width, style) => {
      pen.lineCap = "round";
      pen.lineWidth = width;
      pen.strokeStyle = style;
      pen.beginPath();
      pen.moveTo(from.x, from.y);
      pen.lineTo(to.x + 0.01, to.y);
      pen.stroke();
    };
    const width = radius * (a.scale + b.scale);
    return {
      depth: (a.depth + b.depth) / 2,
      shadow: (pen) => {
        const [c, d] = ends.map((end) => this.project([end[0], end[1], 0], size));
        stroke(pen, c, d, width * 0.8, this.colours.shadow);
      },
      draw: (pen) => {
        // Light falls from the upper left: a dark edge, the colour, a bright streak.
        stroke(pen, a, b, width, shaded(rgb, 0.62));
        for (const [share, light, move] of [[0.86, 0.85, 0.05], [0.6, 1, 0.11], [0.26, 1.16, 0.17]]) {
          const shift = (end) => ({ x: end.x - width * move * 0.7, y: end.y - width * move });
          stroke(pen, shift(a), shift(b), width * share, shaded(rgb, light));
        }
      },
    };
  }

  box(place, orientation, half, rgb, size) {
    const corners = [];
    for (let k = 0; k < 8; k++) {
      const corner = [k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]];
      corners.push(this.project(add(place, turn(orientation, corner)), size));
    }
    const faces = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
    const lights = faces.map((_, number) => {
      const normal = [[0, 0, -1], [0, 0, 1], [0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]][number];
      const [x, y, z] = turn(orientation, normal);
      return 0.85 + 0.25 * z + 0.07 * x - 0.04 * y; // from above, and a little from one side
    });
    const depths = faces.map((face) => face.reduce((sum, corner) => sum + corners[corner].depth, 0) / 4);
    const order = [0, 1, 2, 3, 4, 5].sort((m, n) => depths[n] - depths[m]).slice(3);
    return {
      depth: depths.reduce((sum, depth) => sum + depth, 0) / 6,
      draw: (pen) => {
        for (const number of order) {
          pen.fillStyle = pen.strokeStyle = shaded(rgb, lights[number]);
          pen.lineWidth = 1;
          pen.beginPath();
          faces[number].forEach((corner) => pen.lineTo(corners[corner].x, corners[corner].y));
          pen.closePath();
          pen.fill();
          pen.stroke();
        }
      },
    };
  }

  paintNames(size, roots) {
    size.pen.font = "13px system-ui, sans-serif";
    size.pen.textAlign = "center";
    this.actors.forEach((actor, number) => {
      const over = frameOver(this.frame, actor);
      const spot = this.project([roots[number][0], roots[number][1], 1.55], size);
      size.pen.fillStyle = this.colours.ink;
      size.pen.fillText(over ? `${actor.name} (${actor.end})` : actor.name, spot.x, Math.max(16, spot.y));
    });
  }

  // The timelines

  paintLines() {
    const { pen, width, height } = this.sized(this.lines);
    const tracks = this.data.tracks;
    const seconds = Math.max(1e-9, (this.count - 1) / this.data.rate);
    const high = height / tracks.length;
    const across = (time) => MARGIN + (Math.max(0, Math.min(seconds, time)) / seconds) * (width - MARGIN - 8);
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "left";
    tracks.forEach((track, number) => {
      const [low, top] = [number * high + high - 6, number * high + 8];
      const up = (value) => low - ((value - track.range[0]) / (track.range[1] - track.range[0] || 1)) * (low - top);
      pen.fillStyle = this.colours.ink;
      pen.fillText(track.name, 4, top + 10);
      pen.fillStyle = this.colours.faint;
      pen.fillText(`${track.range[0].toPrecision(2)} … ${track.range[1].toPrecision(2)}`, 4, top + 26);
      for (const line of track.lines) {
        pen.strokeStyle = line.colour;
        pen.lineWidth = 1.5;
        pen.beginPath();
        line.times.forEach((time, k) => pen.lineTo(across(time), up(line.values[k])));
        pen.stroke();
      }
      pen.strokeStyle = this.colours.grid;
      pen.strokeRect(MARGIN, top, width - MARGIN - 8, low - top);
    });
    pen.strokeStyle = this.colours.ink;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(across(this.frame / this.data.rate), 2);
    pen.lineTo(across(this.frame / this.data.rate), height - 2);
    pen.stroke();
  }
}

const MARGIN = 118;
const frameOver = (frame, actor) => actor.end && frame >= actor.frames - 1;

window.players = [...document.querySelectorAll(".player")].map(
  (root) => new Player(root, JSON.parse(root.querySelector("script").textContent)),
);
