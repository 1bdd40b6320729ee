import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  cachedFacts,
  isCacheValid,
  storePreflightCache,
} from "../../../../automation/preflight/preflight-cache.js";
import type { StackOperation } from "../../../../automation/engine/operation-context.js";
import type { StateExport } from "../../../../automation/pulumi/stack-state.js";
import type { CloudFacts } from "../../../../components/lookup/cloud-lookup.js";
import { specOf } from "../../../support/config/spec.js";

const scope = {
  authUrl: "https://keystone.test/v3",
  region: "one",
  projectId: "p",
  roles: ["member"],
};
const facts: CloudFacts = {
  imageIds: { debian: "i" },
  flavorIds: {},
  scope,
  servers: {},
  externalNetworkId: "e",
  externalNetworkName: "public",
};
const state = { version: 3, deployment: { resources: [] } } as StateExport;

describe("what a cluster came up with", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-fitted-"));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  /** Returns a run in the cloud `now`, with `found` as the facts of its preflight. */
  const run = (now: Partial<typeof scope> = {}, found = facts): StackOperation =>
    ({
      options: {},
      access: { workspace: { directory } },
      found: { wanted: "{}", facts: found },
      cloud: () => Promise.resolve({ scope: { ...scope, ...now } }),
    }) as unknown as StackOperation;
  const remembered = async (now: Partial<typeof scope>, found = facts) => {
    storePreflightCache(run({}, found), specOf(), state);
    assert.ok(isCacheValid(run(), specOf(), state));
    return cachedFacts(run(now), specOf(), { state, asking: Promise.resolve([]) });
  };

  it("is given to the program where the cloud is the same", async () => {
    assert.deepEqual((await remembered({}))?.facts, facts);
  });

  it("is known again whether or not the engine keeps its own provider in the state", () => {
    const own = { id: "own", custom: true, type: "pulumi:providers:pulumi" };
    const urn = `urn:pulumi:dev::stackadm::${own.type}::default`;
    const more = {
      ...state,
      deployment: { resources: [{ ...own, urn }] },
    } as unknown as StateExport;
    for (const [then, now] of [
      [state, more],
      [more, state],
    ] as const) {
      storePreflightCache(run(), specOf(), then);
      assert.ok(isCacheValid(run(), specOf(), now));
    }
    const server = { ...own, type: "openstack:compute/instance:Instance", urn };
    const other = { ...state, deployment: { resources: [server] } } as unknown as StateExport;
    assert.ok(!isCacheValid(run(), specOf(), other));
  });

  for (const [what, now] of Object.entries({
    "whose identity service moved": { authUrl: "https://new.test/v3" },
    "of another region": { region: "two" },
    "of another project": { projectId: "q" },
    "where one has other roles": { roles: ["member", "reader"] },
  }))
    it(`is not given in a cloud ${what}`, async () => {
      assert.equal(await remembered(now), undefined);
    });

  it("is given with the cluster's servers, whatever is marked in another one of the same name, and not where one of them is", async () => {
    const [identity, another] = ["0123456789ab", "ba9876543210"];
    const urn =
      "urn:pulumi:dev::stackadm::stackadm:index:Cluster$command:local:Command::dev-identity";
    const made = { urn, type: "command:local:Command", outputs: { stdout: identity } };
    const held = { ...state, deployment: { resources: [made] } } as unknown as StateExport;
    const server = (id: string, of: string) => ({
      id,
      name: "dev-general-0",
      status: id,
      metadata: { "stackadm-cluster": "dev", "stackadm-identity": of },
    });
    const given = (...listed: readonly ReturnType<typeof server>[]) => {
      storePreflightCache(run(), specOf(), held);
      return cachedFacts(run(), specOf(), { state: held, asking: Promise.resolve(listed) });
    };
    const both = await given(server("ERROR", another), server("ACTIVE", identity));
    const servers = { "dev-general-0": { id: "ACTIVE", generation: "", failed: false } };
    assert.deepEqual(both?.facts.servers, servers);
    assert.equal(await given(server("ACTIVE", another), server("ERROR", identity)), undefined);
  });

  it("is not given where somebody else's network or security group is used: it may be another by now", async () => {
    const securityGroupIds = { monitoring: "g" };
    const network = { networkId: "n" } as CloudFacts["network"];
    assert.equal(await remembered({}, { ...facts, securityGroupIds }), undefined);
    assert.equal(await remembered({}, { ...facts, ...(network && { network }) }), undefined);
  });
});
