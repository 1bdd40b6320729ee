import assert from "node:assert/strict";
import type { Row } from "../../../../../../test/support/graph/graph.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";
import { readNetwork } from "../../../../documentation/pictures/network-data.js";
import { drawNetwork } from "../../../../documentation/pictures/network-picture.js";
import { listPicturedClusters } from "../../../../documentation/pictures/picture-clusters.js";
import type { Picture } from "../../../../documentation/pictures/svg.js";
import { findLayoutProblems, isCurrent, listShown } from "../../../support/picture-checks.js";

/** Types whose resources must be in the picture of a network. */
const drawnTypes = /^openstack:(networking\/|loadbalancer\/|compute\/instance:)/;

/**
 * Returns the names of the resources that must be in the picture. Leaves out security groups that no
 * port has, and their rules, because they allow nothing.
 */
function listNetworkResources(rows: readonly Row[]): string[] {
  const used = rows.flatMap(({ inputs }) => (inputs["securityGroupIds"] ?? []) as string[]);
  const unused = rows
    .filter(({ type, name }) => type.endsWith(":SecGroup") && !used.includes(`${name}-id`))
    .map(({ name }) => `${name}-id`);
  return rows
    .filter(({ type, name }) => drawnTypes.test(type) && !unused.includes(`${name}-id`))
    .filter(
      ({ inputs }) =>
        !unused.includes(String(inputs["securityGroupId"])) &&
        !unused.includes(String(inputs["remoteGroupId"])),
    )
    .map(({ name }) => name);
}

const textsOf = ({ shapes }: Picture): string[] =>
  shapes.flatMap((shape) => (shape.kind === "label" ? [shape.text] : []));

describe("the picture of a network", () => {
  for (const { file, title, register } of listPicturedClusters()) {
    it(`shows each network resource and server, without overlaps, and is current: ${file}`, async () => {
      const cluster = await register();
      const picture = drawNetwork(title, readNetwork(cluster));
      const names = nonEmpty(listNetworkResources(cluster.rows));
      const shown = listShown(picture);
      assert.deepEqual(
        names.filter((name) => !shown.includes(name)),
        [],
      );
      assert.deepEqual(findLayoutProblems(picture), []);
      assert.ok(isCurrent(`${file}.svg`, picture), "run npm run docs");
    });
  }

  const draw = async (file: string): Promise<Picture> => {
    const found = listPicturedClusters().find((one) => one.file === file);
    assert.ok(found, file);
    return drawNetwork(found.title, readNetwork(await found.register()));
  };

  it("names the ports of a load balancer and the hosts that the program does not create", async () => {
    assert.ok(textsOf(await draw("example-production-ha")).includes("443 → 30043"));
    const existing = await draw("network-existing");
    const host = existing.shapes.find(
      (shape) => shape.kind === "label" && shape.text === "api.example.org",
    );
    assert.ok(host);
    assert.ok(existing.shapes.some((shape) => shape.kind === "box" && shape.dashed));
  });

  it("shows no external network and no floating IP for a private endpoint", async () => {
    const texts = textsOf(await draw("network-private"));
    assert.deepEqual(
      texts.filter((text) => /External network|Floating IP|Router/.test(text)),
      [],
    );
  });
});
