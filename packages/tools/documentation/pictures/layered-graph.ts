/*
 * Places the nodes of a graph in layers: each node is below all nodes on which it depends. An edge
 * over several layers gets a passage in each layer between them, so that edges cross no node.
 */

export interface GraphNode {
  readonly key: string;
  readonly width: number;
  /** Keys of the nodes on which the node depends. */
  readonly after: readonly string[];
}

/** Node or passage of an edge, with its place. */
export interface PlacedNode {
  readonly key: string;
  readonly layer: number;
  /** Middle of the node. */
  x: number;
  readonly width: number;
}

/** Edge with its stops: a node, passages, and the node that depends on the first one. */
export type PlacedEdge = readonly PlacedNode[];

export interface LayeredGraph {
  readonly layers: readonly (readonly PlacedNode[])[];
  readonly edges: readonly PlacedEdge[];
}

const passageWidth = 12;
const rounds = 24;

/** Returns the layer of each node: the longest way from a node without dependencies. */
function findLayers(nodes: readonly GraphNode[]): ReadonlyMap<string, number> {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const layers = new Map<string, number>();
  const layerOf = (key: string): number => {
    const known = layers.get(key);
    if (known !== undefined) return known;
    const before = (byKey.get(key)?.after ?? []).map(layerOf);
    const layer = Math.max(-1, ...before) + 1;
    layers.set(key, layer);
    return layer;
  };
  for (const { key } of nodes) layerOf(key);
  return layers;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, one) => sum + one, 0) / values.length;

/** Returns the neighbours of each node in the layer above (-1) or below (1). */
function neighboursIn(edges: readonly PlacedEdge[], side: -1 | 1): Map<PlacedNode, PlacedNode[]> {
  const found = new Map<PlacedNode, PlacedNode[]>();
  for (const edge of edges)
    for (const [index, node] of edge.entries()) {
      const other = edge[index + side];
      if (other) found.set(node, [...(found.get(node) ?? []), other]);
    }
  return found;
}

/** Moves nodes that are too close apart, around the wished middles. Keeps the order. */
function spread(layer: readonly PlacedNode[], gap: number, width: number): void {
  const least = (one: PlacedNode, other: PlacedNode): number => (one.width + other.width) / 2 + gap;
  for (let pass = 0; pass < rounds; pass += 1)
    for (const [index, node] of layer.entries()) {
      const before = layer[index - 1];
      if (!before) continue;
      const missing = before.x + least(before, node) - node.x;
      if (missing <= 0) continue;
      before.x -= missing / 2;
      node.x += missing / 2;
    }
  let left = 0;
  for (const node of layer) {
    node.x = Math.max(node.x, left + node.width / 2);
    left = node.x + node.width / 2 + gap;
  }
  let right = width;
  for (const node of [...layer].reverse()) {
    node.x = Math.min(node.x, right - node.width / 2);
    right = node.x - node.width / 2 - gap;
  }
}

/** Moves each node of a layer towards the middle of its neighbours. */
function align(
  layer: PlacedNode[],
  neighbours: ReadonlyMap<PlacedNode, readonly PlacedNode[]>,
  { gap, width, reorder }: { gap: number; width: number; reorder: boolean },
): void {
  for (const node of layer) {
    const around = neighbours.get(node) ?? [];
    if (around.length > 0) node.x = mean(around.map(({ x }) => x));
  }
  if (reorder) layer.sort((one, other) => one.x - other.x);
  spread(layer, gap, width);
}

/** Places a graph without cycles in an area of this width. */
export function placeGraph(
  nodes: readonly GraphNode[],
  { width, gap }: { readonly width: number; readonly gap: number },
): LayeredGraph {
  const layerOf = findLayers(nodes);
  const placed = new Map<string, PlacedNode>();
  const layers: PlacedNode[][] = [];
  const place = (key: string, layer: number, own: number): PlacedNode => {
    const node = { key, layer, x: width / 2, width: own };
    (layers[layer] ??= []).push(node);
    return node;
  };
  for (const { key, width: own } of nodes) placed.set(key, place(key, layerOf.get(key) ?? 0, own));
  const edges = nodes.flatMap(({ key, after }) =>
    after.map((before): PlacedEdge => {
      const [from, to] = [placed.get(before), placed.get(key)];
      if (!from || !to) throw new Error(`${key} depends on ${before}, which is no node`);
      const passages = Array.from({ length: to.layer - from.layer - 1 }, (_, index) =>
        place(`${before} to ${key}`, from.layer + 1 + index, passageWidth),
      );
      return [from, ...passages, to];
    }),
  );
  const [above, below] = [neighboursIn(edges, -1), neighboursIn(edges, 1)];
  for (const layer of layers) spread(layer, gap, width);
  for (let round = 0; round < rounds; round += 1) {
    const reorder = round < rounds / 2;
    for (const layer of layers) align(layer, above, { gap, width, reorder });
    for (const layer of [...layers].reverse()) align(layer, below, { gap, width, reorder });
  }
  return { layers, edges };
}
