import type { NetworkData, Segment } from "./network-data.js";
import type { Part, PicturedGroup } from "./network-parts.js";
import type { Path } from "./network-paths.js";
import type { Area } from "./svg.js";
import { wrapWords } from "./text-width.js";

/** Sizes of the picture's parts in pixels. */
export const sizes = {
  width: 720,
  margin: 20,
  bar: 28,
  pill: { width: 94, height: 38 },
  box: { width: 94, line: 15, padding: 14 },
  clients: { width: 250, height: 26 },
  frame: { indent: 26, title: 24, filter: 12, machine: 26, step: 30, padding: 8 },
  gap: 14,
} as const;
const { margin, bar, pill, box, frame, gap } = sizes;
export const innerWidth = sizes.width - 2 * margin;

/** Widths of a column, and of a machine group without columns. */
const [narrowest, widest, leastGroup] = [98, 150, 190];

/** Router or path, with its place. */
export interface Column {
  readonly x: number;
  /** Path of the column. Undefined: the column of the segment's router. */
  readonly path?: Path;
  readonly segment: Segment;
}

/** Upper ends of the picture's rows. */
export interface Levels {
  readonly external: number;
  readonly floatingIps: number;
  readonly boxes: number;
  readonly servicesSubnet: number;
  readonly subnet: number;
  readonly frames: number;
}

/** Frame of a machine group. */
export interface Frame extends Area {
  /** Lines with the names of the security groups. */
  readonly filters: readonly string[];
  /** Upper end of the first machine. */
  readonly machines: number;
}

export interface NetworkLayout {
  readonly columns: readonly Column[];
  readonly levels: Levels;
  /** Frames of the machine groups by their keys. */
  readonly frames: ReadonlyMap<string, Frame>;
  /** Lower end of the lowest frame. */
  readonly end: number;
  /** Left end of the separate network for Services. Undefined: the cluster has none. */
  readonly servicesStart?: number;
}

export const heightOfPart = ({ lines }: Part): number => lines.length * box.line + box.padding;

/** Size of the text with the security groups. */
export const filterSize = 9.5;

/** Returns the lines with the names of a group's security groups. */
function filtersOf({ securityGroups }: PicturedGroup, width: number): string[] {
  const names = securityGroups.map((name) => name.replace(/^.*-firewall-/, ""));
  const [last, ...others] = [...names].reverse();
  if (last === undefined) return ["no security group"];
  const words = [...others.reverse().map((name) => `${name},`), last];
  const label = names.length === 1 ? "security group:" : "security groups:";
  return wrapWords([label, ...words], width, { size: filterSize, separator: " " });
}

type Unplaced = Omit<Column, "x">;

/**
 * Returns the columns above each machine group: the paths to the group, those to all machines
 * first. A path to one machine passes the title of the group, so the column is further right.
 */
function columnsAbove(group: PicturedGroup, index: number, data: NetworkData): Unplaced[] {
  const { machines, services, groups } = data;
  const of = (segment: Segment): Unplaced[] =>
    segment.paths
      .filter((path) => path.group === group.key)
      .sort((one, other) => Number(one.machine !== undefined) - Number(other.machine !== undefined))
      .map((path) => ({ path, segment }));
  const router = (segment: Segment | undefined, here: boolean): Unplaced[] =>
    segment?.router && here ? [{ segment }] : [];
  return [
    ...router(machines, index === 0),
    ...of(machines),
    ...router(services, index === groups.length - 1),
    ...(services ? of(services) : []),
  ];
}

/** Places each machine group, and above the group its columns. */
function placeAcross(data: NetworkData): Pick<NetworkLayout, "columns"> & {
  readonly across: ReadonlyMap<string, Pick<Area, "x" | "width">>;
} {
  const above = data.groups.map((group, index) => columnsAbove(group, index, data));
  const least = above.map((columns) => Math.max(leastGroup, columns.length * narrowest));
  const all = least.reduce((sum, one) => sum + one, 0);
  const stretch = Math.min(widest / narrowest, innerWidth / all);
  let left = margin + (innerWidth - all * stretch) / 2;
  const columns: Column[] = [];
  const across = new Map<string, Pick<Area, "x" | "width">>();
  for (const [index, group] of data.groups.entries()) {
    const width = (least[index] ?? 0) * stretch;
    const own = above[index] ?? [];
    across.set(group.key, { x: left + gap / 2, width: width - gap });
    columns.push(
      ...own.map((column, place) => ({
        ...column,
        x: left + ((place + 0.5) * width) / own.length,
      })),
    );
    left += width;
  }
  return { columns, across };
}

/** Returns the upper ends of the rows above the frames. */
function placeLevels(data: NetworkData, columns: readonly Column[]): Levels {
  const parts = columns.flatMap(({ path, segment }) => (path ? path.box : segment.router) ?? []);
  const tallest = Math.max(0, ...parts.map(heightOfPart));
  const external = margin + sizes.clients.height + 20;
  const floatingIps = external + (data.machines.external === undefined ? 0 : bar + 18);
  const pills = columns.some(({ path }) => path?.floatingIp) ? pill.height + 18 : 0;
  const boxes = floatingIps + pills;
  const servicesSubnet = boxes + (tallest > 0 ? tallest + 20 : 0);
  const subnet = servicesSubnet + (data.services ? bar + 18 : 0);
  return { external, floatingIps, boxes, servicesSubnet, subnet, frames: subnet + bar + 32 };
}

/** Returns the places of everything in the picture of a network. */
export function placeNetwork(data: NetworkData): NetworkLayout {
  const { columns, across } = placeAcross(data);
  const levels = placeLevels(data, columns);
  const wide = data.groups.map((group) => {
    const { x, width } = across.get(group.key) ?? { x: 0, width: 0 };
    // A path to one machine passes the lines.
    const passing = columns.filter(
      ({ path }) => path?.machine !== undefined && path.group === group.key,
    );
    const end = Math.min(x + width, ...passing.map((column) => column.x));
    return { group, x, width, filters: filtersOf(group, end - frame.padding - x - frame.indent) };
  });
  const most = Math.max(...wide.map(({ filters }) => filters.length));
  const head = frame.title + most * frame.filter + 8;
  const frames = new Map(
    wide.map(({ group, ...place }): [string, Frame] => {
      const machines = levels.frames + head;
      const steps = group.machines.length * frame.step - (frame.step - frame.machine);
      const height = head + steps + frame.padding;
      return [group.key, { ...place, y: levels.frames, height, machines }];
    }),
  );
  const end = Math.max(...[...frames.values()].map(({ y, height }) => y + height));
  const first = columns.findIndex(({ segment }) => segment === data.services);
  const [before, after] = [columns[first - 1], columns[first]];
  return {
    columns,
    levels,
    frames,
    end,
    ...(before && after && { servicesStart: (before.x + after.x) / 2 }),
  };
}
