/*
 * Shapes of a picture, and their SVG. The colours follow the reader's light or dark theme. The
 * files need no script and no other file, so GitHub and browsers show them inside a page.
 */

export const tones = ["neutral", "blue", "amber", "violet"] as const;
export type Tone = (typeof tones)[number];

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Shown {
  /** Names of the data that the shape stands for, such as resources. */
  readonly shows?: readonly string[];
}

export interface Box extends Area, Shown {
  readonly kind: "box";
  readonly tone: Tone;
  /** `outline`: the background of the picture, with a border. @default "soft" */
  readonly fill?: "outline" | "soft" | "solid";
  readonly dashed?: boolean;
  /** Radius of the corners. @default 5 */
  readonly corner?: number;
}

export interface Label extends Shown {
  readonly kind: "label";
  readonly x: number;
  /** Baseline of the text. */
  readonly y: number;
  readonly text: string;
  /** Part of the text that is at `x`. @default "start" */
  readonly anchor?: "start" | "middle" | "end";
  /** @default 12 */
  readonly size?: number;
  readonly bold?: boolean;
  /** @default "ink" */
  readonly color?: "ink" | "faint";
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Line extends Shown {
  readonly kind: "line";
  readonly points: readonly Point[];
  readonly tone: Tone;
  readonly dashed?: boolean;
  /** Whether an arrow head is at the last point. */
  readonly arrow?: boolean;
  /** Whether the line begins and ends vertically and is curved between the points. */
  readonly curved?: boolean;
  /** @default 1.5 */
  readonly weight?: number;
}

export interface Dot extends Point, Shown {
  readonly kind: "dot";
  readonly tone: Tone;
}

export type Shape = Box | Label | Line | Dot;

export interface Picture {
  /** Title for screen readers. */
  readonly title: string;
  /** Contents of the picture in words, for screen readers. */
  readonly description: string;
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

/** Colours of the two themes: first the light theme, then the dark theme. */
type Colors = readonly [light: string, dark: string];

const paper: Colors = ["#ffffff", "#0d1117"];
const ink: Colors = ["#1f2933", "#e6edf3"];
const faint: Colors = ["#55616e", "#9aa4af"];

const palette: Readonly<
  Record<Tone, { readonly soft: Colors; readonly solid: Colors; readonly line: Colors }>
> = {
  neutral: {
    soft: ["#f2f4f7", "#181e26"],
    solid: ["#d5dce4", "#39434f"],
    line: ["#9aa7b5", "#5c6a79"],
  },
  blue: {
    soft: ["#e6effd", "#12233f"],
    solid: ["#2563eb", "#3b78e7"],
    line: ["#2563eb", "#5b95f5"],
  },
  amber: {
    soft: ["#fdf1dc", "#33240c"],
    solid: ["#b45309", "#b97a12"],
    line: ["#b45309", "#e0a13a"],
  },
  violet: {
    soft: ["#f0eafc", "#261b3f"],
    solid: ["#7443c9", "#8257d6"],
    line: ["#7443c9", "#ac8cf0"],
  },
};

/** Properties of CSS classes. A property has its value in the light and in the dark theme. */
type Classes = Readonly<Record<string, Readonly<Record<string, Colors>>>>;

function classesOf(tone: Tone): Classes {
  const { soft, solid, line } = palette[tone];
  return {
    [`${tone}-outline`]: { fill: paper, stroke: line },
    [`${tone}-soft`]: { fill: soft, stroke: line },
    [`${tone}-solid`]: { fill: solid },
    [`${tone}-line`]: { stroke: line },
    [`${tone}-head`]: { fill: line },
  };
}

const classes: Classes = {
  paper: { fill: paper },
  ink: { fill: ink },
  faint: { fill: faint },
  ...Object.fromEntries(tones.flatMap((tone) => Object.entries(classesOf(tone)))),
};

const rules = (names: readonly string[], theme: 0 | 1): string =>
  names
    .map((name) => {
      const properties = Object.entries(classes[name] ?? {});
      return `.${name}{${properties.map(([key, colors]) => `${key}:${colors[theme]}`).join(";")}}`;
    })
    .join("");

/** Returns the style sheet with the rules of the classes that occur in the shapes. */
function renderStyle(body: string): string {
  const used = new Set([...body.matchAll(/class="([\w-]+)/g)].map(([, name = ""]) => name));
  const names = Object.keys(classes).filter((name) => used.has(name));
  return [
    "<style>",
    'text{font-family:system-ui,-apple-system,"Segoe UI","Helvetica Neue",sans-serif}',
    rules(names, 0),
    `@media (prefers-color-scheme:dark){${rules(names, 1)}}`,
    "</style>",
  ].join("\n");
}

export const escapeXml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

const rounded = (value: number): string => String(Math.round(value * 10) / 10);

const attributes = (values: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) => ` ${key}="${typeof value === "number" ? rounded(value) : String(value)}"`,
    )
    .join("");

const dashes = (dashed: boolean | undefined): string | undefined => (dashed ? "5 3" : undefined);

const renderBox = ({ tone, fill = "soft", corner = 5, dashed, ...area }: Box): string =>
  `<rect${attributes({
    class: `${tone}-${fill}`,
    x: area.x,
    y: area.y,
    width: area.width,
    height: area.height,
    rx: corner === 0 ? undefined : corner,
    "stroke-dasharray": dashes(dashed),
  })}/>`;

const renderLabel = ({ x, y, text, color = "ink", ...label }: Label): string => {
  const { anchor = "start", size = 12, bold } = label;
  const given = attributes({
    class: color,
    x,
    y,
    "font-size": size,
    "font-weight": bold ? 600 : undefined,
    "text-anchor": anchor === "start" ? undefined : anchor,
  });
  return `<text${given}>${escapeXml(text)}</text>`;
};

/** Length of an arrow head, and half of its width. */
const [headLength, headWidth] = [8, 4];

/** Returns the path through the points. */
const pathThrough = (points: readonly Point[], curved: boolean): string =>
  points
    .map(({ x, y }, index) => {
      const before = points[index - 1];
      const end = `${rounded(x)} ${rounded(y)}`;
      if (!before) return `M${end}`;
      if (!curved || before.x === x) return `L${end}`;
      const middle = rounded((before.y + y) / 2);
      return `C${rounded(before.x)} ${middle} ${rounded(x)} ${middle} ${end}`;
    })
    .join("");

function renderLine({ points, tone, dashed, arrow, curved = false, weight = 1.5 }: Line): string {
  const [start, last] = points.slice(-2);
  if (!start || !last) throw new Error("a line needs two points");
  const before = curved ? { x: last.x, y: start.y } : start;
  const length = Math.hypot(last.x - before.x, last.y - before.y);
  const [dx, dy] = [(last.x - before.x) / length, (last.y - before.y) / length];
  const base = { x: last.x - dx * headLength, y: last.y - dy * headLength };
  const path = pathThrough(arrow ? [...points.slice(0, -1), base] : points, curved);
  const drawn = `<path${attributes({
    class: `${tone}-line`,
    d: path,
    fill: "none",
    "stroke-width": weight,
    "stroke-dasharray": dashes(dashed),
  })}/>`;
  if (!arrow) return drawn;
  const head = [
    last,
    { x: base.x - dy * headWidth, y: base.y + dx * headWidth },
    { x: base.x + dy * headWidth, y: base.y - dx * headWidth },
  ].map(({ x, y }) => `${rounded(x)},${rounded(y)}`);
  return `${drawn}<polygon class="${tone}-head" points="${head.join(" ")}"/>`;
}

function renderShape(shape: Shape): string {
  switch (shape.kind) {
    case "box":
      return renderBox(shape);
    case "label":
      return renderLabel(shape);
    case "line":
      return renderLine(shape);
    case "dot":
      return `<circle${attributes({ class: `${shape.tone}-head`, cx: shape.x, cy: shape.y, r: 3.5 })}/>`;
  }
}

/** Returns the picture as an SVG file. */
export function renderPicture({ title, description, width, height, shapes }: Picture): string {
  const body = ['<rect class="paper" width="100%" height="100%"/>', ...shapes.map(renderShape)];
  const drawn = body.join("\n");
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    renderStyle(drawn),
    drawn,
    "</svg>",
    "",
  ].join("\n");
}
