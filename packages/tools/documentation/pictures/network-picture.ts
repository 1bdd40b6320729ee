import type { NetworkData, Segment } from "./network-data.js";
import type { Part, PicturedGroup } from "./network-parts.js";
import {
  filterSize,
  heightOfPart,
  innerWidth,
  placeNetwork,
  sizes,
  type Column,
  type Frame,
  type NetworkLayout,
} from "./network-layout.js";
import type { Path } from "./network-paths.js";
import { drawReachTable } from "./reach-table.js";
import type { Area, Line, Picture, Point, Shape, Tone } from "./svg.js";

const { margin, bar, pill, box, frame, clients: clientsSize, gap } = sizes;

export const toneOf: Readonly<Record<Path["purpose"], Tone>> = {
  api: "blue",
  ssh: "amber",
  web: "violet",
};

const line = (
  tone: Tone,
  points: readonly Point[],
  more: Pick<Line, "dashed" | "arrow"> = {},
): Line => ({ kind: "line", tone, points, ...more });

/** Returns a vertical line. */
const vertical = (
  tone: Tone,
  x: number,
  [from, to]: readonly [number, number],
  more: Pick<Line, "dashed" | "arrow"> = {},
): Line =>
  line(
    tone,
    [
      { x, y: from },
      { x, y: to },
    ],
    more,
  );

const centered = (
  x: number,
  y: number,
  { width, height }: Pick<Area, "width" | "height">,
): Area => ({
  x: x - width / 2,
  y,
  width,
  height,
});

/** Draws a part as a box with its lines of text in the middle. The first line is bold. */
function drawPart(part: Part, area: Area, tone: Tone, corner = 5): Shape[] {
  const { lines, shows, foreign = false } = part;
  const top = area.y + (area.height - lines.length * box.line) / 2;
  return [
    {
      kind: "box",
      ...area,
      tone,
      shows,
      corner,
      dashed: foreign,
      fill: foreign ? "outline" : "soft",
    },
    ...lines.map((text, index): Shape => ({
      kind: "label",
      x: area.x + area.width / 2,
      y: top + index * box.line + 11,
      text,
      anchor: "middle",
      ...(index === 0 ? { size: 10.5, bold: true } : { size: 10.5, color: "faint" }),
    })),
  ];
}

/** Draws a network as a horizontal bar. */
function drawBar({ lines, shows, foreign = false }: Part, area: Area): Shape[] {
  const fill = foreign ? "outline" : "solid";
  return [
    { kind: "box", ...area, tone: "neutral", fill, corner: 4, dashed: foreign, shows },
    {
      kind: "label",
      x: area.x + 12,
      y: area.y + bar / 2 + 4,
      text: lines.join(" "),
      bold: true,
      size: 11,
    },
  ];
}

/** Draws the external network and the subnet of a segment. */
function drawSegment(
  { external, subnet }: Segment,
  { x, width }: Pick<Area, "x" | "width">,
  levels: { readonly external: number; readonly subnet: Area },
): Shape[] {
  const outside = { lines: [`External network ${external ?? ""}`], shows: [], foreign: true };
  return [
    ...(external === undefined
      ? []
      : drawBar(outside, { x, y: levels.external, width, height: bar })),
    ...drawBar(subnet, levels.subnet),
  ];
}

function drawSegments({ machines, services }: NetworkData, layout: NetworkLayout): Shape[] {
  const { levels, servicesStart } = layout;
  const right = margin + innerWidth;
  const wide = { x: margin, y: levels.subnet, width: innerWidth, height: bar };
  if (!services || servicesStart === undefined)
    return drawSegment(machines, wide, { external: levels.external, subnet: wide });
  const [first, second] = [
    { x: margin, width: servicesStart - gap / 2 - margin },
    { x: servicesStart + gap / 2, width: right - servicesStart - gap / 2 },
  ];
  const own = { ...second, y: levels.servicesSubnet, height: bar };
  return [
    ...drawSegment(machines, first, { external: levels.external, subnet: wide }),
    ...drawSegment(services, second, { external: levels.external, subnet: own }),
  ];
}

/** Draws a machine group: a line from the subnet, with a dot for the port of each machine. */
function drawGroup(group: PicturedGroup, place: Frame, { levels }: NetworkLayout): Shape[] {
  const { filters, machines, ...area } = place;
  const [spine, left] = [area.x + 14, area.x + frame.indent];
  const middle = (index: number): number => machines + index * frame.step + frame.machine / 2;
  return [
    { kind: "box", ...area, tone: "neutral", fill: "outline" },
    { kind: "label", x: left, y: area.y + 18, text: group.title, bold: true },
    ...filters.map((text, index): Shape => ({
      kind: "label",
      x: left,
      y: area.y + frame.title + index * frame.filter + 8,
      text,
      size: filterSize,
      color: "faint",
      shows: group.securityGroups,
    })),
    vertical("neutral", spine, [levels.subnet + bar, middle(group.machines.length - 1)]),
    ...group.machines.flatMap(({ name, zone, shows }, index): Shape[] => {
      const y = middle(index);
      const right = area.x + area.width - frame.padding;
      const rect = {
        x: left,
        y: y - frame.machine / 2,
        width: right - left,
        height: frame.machine,
      };
      const text = { y: y + 4, text: zone, size: 9.5, color: "faint", anchor: "end" } as const;
      return [
        line("neutral", [
          { x: spine, y },
          { x: left, y },
        ]),
        { kind: "dot", x: spine, y, tone: "neutral" },
        { kind: "box", ...rect, tone: "neutral", corner: 4, shows },
        { kind: "label", x: left + 8, y: y + 4, text: name, size: 10.5 },
        ...(zone === "" ? [] : [{ kind: "label", x: right - 8, ...text } as const]),
      ];
    }),
  ];
}

/** Draws the router of a segment between its external network and its subnet. */
function drawRouter({ x, segment }: Column, data: NetworkData, { levels }: NetworkLayout): Shape[] {
  const { router, external } = segment;
  if (!router) return [];
  const end = segment === data.services ? levels.servicesSubnet : levels.subnet;
  const height = heightOfPart(router);
  const start = external === undefined ? levels.boxes : levels.external + bar;
  return [
    vertical("neutral", x, [start, end]),
    ...drawPart(router, centered(x, levels.boxes, { width: box.width, height }), "neutral"),
  ];
}

/** Draws a path from the external network to its machines. */
function drawPath({ x, path, segment }: Column, { levels, frames }: NetworkLayout): Shape[] {
  const area = path && frames.get(path.group);
  if (!area) return [];
  const { floatingIp, box: part, machine } = path;
  const tone = toneOf[path.purpose];
  const dashed = part?.foreign === true;
  const outside = floatingIp !== undefined || (dashed && part.shows.length === 0);
  const start = outside && segment.external !== undefined ? levels.external + bar : levels.boxes;
  const end = machine === undefined ? area.y : area.machines;
  return [
    vertical(tone, x, [start, end], { dashed, arrow: true }),
    ...(floatingIp
      ? drawPart(floatingIp, centered(x, levels.floatingIps, pill), tone, pill.height / 2)
      : []),
    ...(part
      ? drawPart(
          part,
          centered(x, levels.boxes, { width: box.width, height: heightOfPart(part) }),
          tone,
        )
      : []),
  ];
}

/** Draws the clients, with an arrow to each network from which they come. */
function drawClients({ clients, machines }: NetworkData, layout: NetworkLayout): Shape[] {
  const { levels, servicesStart } = layout;
  const x = sizes.width / 2;
  const part = { lines: [`Clients: ${clients.join(", ")}`], shows: [] };
  const area = centered(x, margin, clientsSize);
  const end = machines.external === undefined ? levels.subnet : levels.external;
  const y = area.y + area.height / 2;
  const other = servicesStart !== undefined && (servicesStart + margin + innerWidth) / 2;
  const bend = [
    { x: area.x + area.width, y },
    ...(other === false
      ? []
      : [
          { x: other, y },
          { x: other, y: levels.external },
        ]),
  ];
  return [
    vertical("neutral", x, [area.y + area.height, end], { arrow: true }),
    ...(bend.length > 1 ? [line("neutral", bend, { arrow: true })] : []),
    ...drawPart(part, area, "neutral", area.height / 2),
  ];
}

/** Draws the meaning of dots and dashed lines. */
function drawLegend(shapes: readonly Shape[], y: number): Shape[] {
  const dashed = shapes.some((shape) => "dashed" in shape && shape.dashed);
  const text = { size: 10, color: "faint", y: y + 4 } as const;
  return [
    { kind: "dot", x: margin + 5, y, tone: "neutral" },
    { kind: "label", x: margin + 14, text: "port of a machine", ...text },
    ...(dashed
      ? [
          line(
            "neutral",
            [
              { x: margin + 130, y },
              { x: margin + 154, y },
            ],
            { dashed: true },
          ),
          { kind: "label", x: margin + 160, text: "not created by stackadm", ...text } as const,
        ]
      : []),
  ];
}

/** Returns the contents of the picture in words. */
function describe({ machines, services, groups, clients }: NetworkData): string {
  const segments = [machines, ...(services ? [services] : [])];
  const paths = segments.flatMap((segment) => segment.paths);
  return [
    `Clients in ${clients.join(", ")}.`,
    ...segments.flatMap(({ external, subnet }) => [
      ...(external === undefined ? [] : [`External network ${external}.`]),
      `${subnet.lines.join(" ")}.`,
    ]),
    ...paths.map(({ floatingIp, box: part, group, machine }) => {
      const stops = [floatingIp?.lines.join(" for "), part?.lines.join(", "), machine ?? group];
      return `${stops.filter((stop) => stop !== undefined).join(" to ")}.`;
    }),
    ...groups.map(
      ({ title, machines: all }) => `${title}: ${all.map(({ name }) => name).join(", ")}.`,
    ),
  ].join(" ");
}

/** Draws the network of a cluster. */
export function drawNetwork(title: string, data: NetworkData): Picture {
  const layout = placeNetwork(data);
  const { columns, frames } = layout;
  const shapes = [
    ...drawClients(data, layout),
    ...drawSegments(data, layout),
    ...data.groups.flatMap((group) => {
      const area = frames.get(group.key);
      return area ? drawGroup(group, area, layout) : [];
    }),
    ...columns.flatMap((column) =>
      column.path ? drawPath(column, layout) : drawRouter(column, data, layout),
    ),
  ];
  const legend = drawLegend(shapes, layout.end + 20);
  const table = drawReachTable(data, { x: margin, y: layout.end + 54, width: innerWidth });
  return {
    title,
    description: describe(data),
    width: sizes.width,
    height: table.end + margin,
    shapes: [...shapes, ...legend, ...table.shapes],
  };
}
