import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as openstack from "@pulumi/openstack";
import { getMonitor } from "@pulumi/pulumi/runtime/settings.js";
import { satisfies } from "semver";
import {
  openstackPluginVersions,
  takesPolicyList,
  type PulumiOpenstackVersion,
} from "../../../base/versions/pulumi-openstack-versions.js";
import { Cluster } from "../../../components/cluster.js";
import { lookUpCloud } from "../../../components/lookup/cloud-lookup.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { transformableTypes, type Transforms } from "../../../components/pulumi/transforms.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";
import { nonEmpty } from "../../support/non-empty.js";

const [present, former] = openstackPluginVersions;
const sdk = createRequire(__filename)("@pulumi/openstack/package.json") as { version: string };
const sdkVersion = sdk.version.replace(/^v/, "");

interface Making {
  readonly args?: Partial<ClusterArgs>;
  readonly transforms?: Transforms;
  /** Whether the program creates a provider itself. */
  readonly own?: boolean;
}

describe("the version of the OpenStack plugin", () => {
  const made = ({ args, transforms = {}, own = false }: Making = {}): Promise<readonly Row[]> =>
    graph(() => {
      const provider = own ? [new openstack.Provider("mine")] : [];
      return new Cluster("dev", { ...smallest, ...args, transforms }, { providers: provider });
    }, cloudAnswers);
  const ofOpenstack = (rows: readonly Row[]): readonly Row[] =>
    rows.filter(({ type }) => type.startsWith("openstack:"));
  const versions = (rows: readonly Row[]): string[] => [
    ...new Set(ofOpenstack(rows).map(({ version }) => version)),
  ];
  const policies = (rows: readonly Row[]): unknown[] =>
    rows
      .filter(({ type }) => type === transformableTypes.serverGroup)
      .map(({ inputs }) => inputs["policies"]);

  it("is the same for all resources of a cluster, independent of the SDK", async () => {
    const rows = await made();
    assert.deepEqual(versions(rows), [present]);
    assert.deepEqual(new Set(policies(rows)), new Set(["soft-anti-affinity"]));
  });

  it("follows the setting, as does the form of policies", async () => {
    const rows = await made({ args: { openstackPlugin: former } });
    assert.deepEqual(versions(rows), [former]);
    assert.deepEqual(policies(rows)[0], ["soft-anti-affinity"]);
  });

  it("is not set on resources of other plugins", async () => {
    const others = (await made()).filter(
      ({ custom, type }) => custom && !type.startsWith("openstack:"),
    );
    assert.ok(others.length > 0);
    assert.ok(others.every(({ version }) => version !== present));
  });

  it("is the SDK's for a custom provider without the setting", async () => {
    const rows = await made({ own: true });
    assert.ok(ofOpenstack(rows).every(({ provider }) => /::mine::/.test(provider)));
    const list = takesPolicyList(sdkVersion);
    assert.deepEqual(policies(rows)[0], list ? ["soft-anti-affinity"] : "soft-anti-affinity");
    const written = await made({ own: true, args: { openstackPlugin: present } });
    assert.equal(policies(written)[0], "soft-anti-affinity");
  });

  it("changes by a transform, which receives inputs in the default version's form", async () => {
    const seen: unknown[] = [];
    const rows = await made({
      transforms: {
        serverGroup: ({ props, opts }) => {
          seen.push(props["policies"], (opts as { version?: string }).version);
          return { props, opts: { ...opts, version: "5.6.0" } };
        },
      },
    });
    assert.deepEqual(seen.slice(0, 2), ["soft-anti-affinity", present]);
    assert.deepEqual(versions(rows).sort(), [present, "5.6.0"]);
  });

  it("is an option of each lookup", async () => {
    const wanted = { images: ["debian"], flavors: ["m"] };
    const asked: string[] = [];
    const look = (openstackPlugin?: PulumiOpenstackVersion, version?: string) =>
      graph(() => {
        const monitor = getMonitor() as unknown as {
          invoke: (request: { getVersion(): string }, ...rest: unknown[]) => unknown;
        };
        const invoke = monitor.invoke.bind(monitor);
        monitor.invoke = (request, ...rest) => {
          asked.push(request.getVersion());
          return invoke(request, ...rest);
        };
        const opts = version === undefined ? {} : { version };
        return lookUpCloud({ ...wanted, ...(openstackPlugin && { openstackPlugin }) }, opts);
      }, cloudAnswers);
    await look();
    await look(former);
    await look(undefined, "5.6.0");
    assert.deepEqual([...new Set(asked)], [present, former, "5.6.0"]);
  });

  it("is refused if the program does not support it", async () => {
    await assert.rejects(
      made({ args: { openstackPlugin: "4.0.0" as typeof present } }),
      /openstackPlugin: "4\.0\.0" is not known here; write 5\.5\.1 or 3\.15\.2/,
    );
  });

  it("satisfies the SDK range of the package", () => {
    const { dependencies } = createRequire(__filename)("../../../package.json") as {
      dependencies: Readonly<Record<string, string>>;
    };
    for (const version of nonEmpty(openstackPluginVersions))
      assert.ok(satisfies(version, dependencies["@pulumi/openstack"] ?? ""), version);
  });
});
