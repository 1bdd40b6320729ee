import { placeGraph, type PlacedEdge } from "./layered-graph.js";
import type { Maker, ResourceGroup } from "./resource-groups.js";
import type { Area, Picture, Shape, Tone } from "./svg.js";
import { wrapWords } from "./text-width.js";

const [width, margin, gap, between] = [720, 20, 14, 30];
const box = { width: 180, head: 22, line: 13, padding: 8 };
const size = 9.5;

const tones: Readonly<Record<Maker, Tone>> = {
  local: "neutral",
  openstack: "blue",
  script: "amber",
  kubernetes: "violet",
};

const makerTitles: Readonly<Record<Maker, string>> = {
  local: "values of the cluster",
  openstack: "objects in OpenStack",
  script: "scripts over SSH",
  kubernetes: "objects in Kubernetes",
};

const componentTitles: Readonly<Record<string, string>> = {
  cluster: "Cluster",
  network: "Network",
  firewall: "Security groups",
  credential: "Application credential",
  endpoint: "API endpoint",
  "control-plane": "Control plane",
  addons: "Access to the API",
  "addons-network": "Pod network",
  "addons-cloud-config": "Cloud configuration",
  "addons-cloud-controller": "Cloud controller",
  "addons-storage": "Cinder CSI",
  "addons-samples": "Samples",
};

const phaseTitles: Readonly<Record<string, string>> = {
  servers: "servers",
  boot: "preparation",
  "control plane": "kubeadm",
  workers: "kubeadm",
};

/** Returns the title of a group. The phase is part of the title if the component has several. */
function titleOf({ component, phase }: ResourceGroup): string {
  const pool = /^workers-(.+)$/.exec(component)?.[1];
  const title = componentTitles[component] ?? (pool === undefined ? component : "Workers");
  if (component === "control-plane" && phase === "samples") return "Teardown on destroy";
  const part = phaseTitles[phase];
  return part === undefined || title === part ? title : `${title}: ${part}`;
}

/** Kinds that are shown together, because every workload in Kubernetes has some of them. */
const access = ["ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];

/** Returns the kinds of the resources with their numbers: `3 Port`, `Router`. */
function kindsOf({ kinds, maker }: ResourceGroup): string[] {
  const counted = new Map<string, number>();
  for (const [kind, count] of kinds) {
    const name = access.includes(kind) && maker === "kubernetes" ? "RBAC" : kind;
    counted.set(name, (counted.get(name) ?? 0) + count);
  }
  return [...counted].map(([kind, count]) => (count === 1 ? kind : `${count} ${kind}`));
}

const linesOf = (group: ResourceGroup): string[] =>
  wrapWords(kindsOf(group), box.width - 2 * box.padding, { size, separator: ", " });

function drawGroup(group: ResourceGroup, area: Area): Shape[] {
  const x = area.x + area.width / 2;
  return [
    { kind: "box", ...area, tone: tones[group.maker], shows: group.shows },
    {
      kind: "label",
      x,
      y: area.y + 17,
      text: titleOf(group),
      size: 11,
      bold: true,
      anchor: "middle",
    },
    ...linesOf(group).map((text, index): Shape => ({
      kind: "label",
      x,
      y: area.y + box.head + index * box.line + 9,
      text,
      size,
      color: "faint",
      anchor: "middle",
    })),
  ];
}

/** Draws the meaning of the colours. */
function drawLegend(groups: readonly ResourceGroup[], y: number): Shape[] {
  const makers = (Object.keys(makerTitles) as Maker[]).filter((maker) =>
    groups.some((group) => group.maker === maker),
  );
  return makers.flatMap((maker, index): Shape[] => {
    const x = margin + index * 165;
    return [
      { kind: "box", x, y, width: 14, height: 14, corner: 3, tone: tones[maker] },
      {
        kind: "label",
        x: x + 21,
        y: y + 11,
        text: makerTitles[maker],
        size: 10.5,
        color: "faint",
      },
    ];
  });
}

/** Draws the groups of resources. An arrow leads to the group that waits. */
export function drawResourceGraph(title: string, groups: readonly ResourceGroup[]): Picture {
  const { layers, edges } = placeGraph(
    groups.map(({ key, after }) => ({ key, after, width: box.width })),
    { width: width - 2 * margin, gap },
  );
  const byKey = new Map(groups.map((group) => [group.key, group]));
  const heightOf = (key: string): number => {
    const group = byKey.get(key);
    return group ? box.head + linesOf(group).length * box.line + box.padding : 0;
  };
  const heights = layers.map((layer) => Math.max(...layer.map(({ key }) => heightOf(key))));
  const start = margin + 34;
  const tops = heights.map((_, index) =>
    heights.slice(0, index).reduce((sum, height) => sum + height + between, start),
  );
  const areaOf = ({ key, layer, x, width: own }: PlacedEdge[number]): Area => {
    const tallest = heights[layer] ?? 0;
    const height = byKey.has(key) ? heightOf(key) : tallest;
    return { x: margin + x - own / 2, y: tops[layer] ?? 0, width: own, height };
  };
  const middle = ({ x, width: own }: Area): number => x + own / 2;
  const arrows = edges.map((edge): Shape => {
    const areas = edge.map(areaOf);
    const points = areas.flatMap((area, index) => [
      ...(index === 0 ? [] : [{ x: middle(area), y: area.y }]),
      ...(index === areas.length - 1 ? [] : [{ x: middle(area), y: area.y + area.height }]),
    ]);
    return { kind: "line", tone: "neutral", points, curved: true, arrow: true };
  });
  const boxes = layers.flat().flatMap((node) => {
    const group = byKey.get(node.key);
    return group ? drawGroup(group, areaOf(node)) : [];
  });
  const waits = groups
    .filter(({ after }) => after.length > 0)
    .map((group) => {
      const names = group.after.flatMap((key) => byKey.get(key) ?? []).map(titleOf);
      return `${titleOf(group)} after ${names.join(" and ")}.`;
    });
  const end = Math.max(...layers.flat().map((node) => areaOf(node).y + areaOf(node).height));
  return {
    title,
    description: waits.join(" "),
    width,
    height: end + margin,
    shapes: [...drawLegend(groups, margin), ...arrows, ...boxes],
  };
}
