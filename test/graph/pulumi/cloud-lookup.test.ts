import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import type { CloudClient } from "../../../openstack/client/cloud-client.js";
import type { RequiredLookups } from "../../../openstack/checks/required-lookups.js";
import { lookUpCloud, type CloudFacts } from "../../../components/lookup/cloud-lookup.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Fields } from "../../support/graph/graph.js";

describe("lookUpCloud", () => {
  const wanted = { images: ["debian"], externalNetwork: "public", flavors: ["m", "l", "m"] };
  const look = async (
    lookups: typeof cloudAnswers.lookups,
    changes: Partial<RequiredLookups> = {},
  ): Promise<CloudFacts> => {
    let found: Promise<CloudFacts> | undefined;
    const program = (): Promise<CloudFacts> => (found = lookUpCloud({ ...wanted, ...changes }));
    await graph(program, { ...cloudAnswers, lookups: { ...cloudAnswers.lookups, ...lookups } });
    assert.ok(found);
    return found;
  };
  const refuse = (reason: string) => () => {
    const details = `invocation returned an error: 1 error occurred:\n\t* ${reason}\n`;
    throw Object.assign(new Error(details), { code: 2, details });
  };
  const nothing = refuse("Your query returned no results. Please change your search criteria");
  const id = "0b1c2d3e-0000-4000-8000-000000000000";
  const image = "openstack:images/getImageIds:getImageIds";
  const network = "openstack:networking/getNetwork:getNetwork";
  const flavor = "openstack:compute/getFlavor:getFlavor";
  const scope = "openstack:identity/getAuthScope:getAuthScope";

  it("returns Keystone's versioned public URL and the operator's roles", async () => {
    assert.deepEqual((await look({})).scope, {
      authUrl: "https://keystone.example/v3",
      projectId: "project-id",
      region: "region-one",
      roles: ["admin", "load-balancer_member", "member"],
    });
  });

  it("looks up the services' external network, and reports two missing ones at once", async () => {
    const servicesExternalNetwork = "services";
    const there = ({ name }: Fields): Fields => ({ id: `id-of-${String(name)}`, name });
    const found = await look({ [network]: there }, { servicesExternalNetwork });
    assert.deepEqual(found.servicesExternalNetwork, { id: "id-of-services", name: "services" });
    assert.equal((await look({})).servicesExternalNetwork, undefined);
    await assert.rejects(look({ [network]: nothing }, { servicesExternalNetwork }), ({ message }) =>
      /"public" does not exist.*\n.*"services" does not exist/.test(String(message)),
    );
  });

  it("looks up each flavor once", async () => {
    const asked: unknown[] = [];
    const { flavorIds } = await look({
      [flavor]: ({ name }) => {
        asked.push(name);
        return { id: `id-of-${String(name)}` };
      },
    });
    assert.deepEqual(asked, ["m", "l"]);
    assert.deepEqual(flavorIds, { m: "id-of-m", l: "id-of-l" });
  });

  it("looks up a value in the form of an ID by ID only", async () => {
    const asked: unknown[] = [];
    const facts = await look(
      {
        [image]: nothing,
        [network]: (inputs) => (asked.push(inputs), { id, name: "public" }),
        [flavor]: (inputs) => (asked.push(inputs), { id }),
      },
      { images: [id], externalNetwork: id, flavors: [id] },
    );
    assert.deepEqual(facts.imageIds, { [id]: id });
    assert.equal(facts.externalNetworkId, id);
    assert.equal(facts.externalNetworkName, "public");
    assert.deepEqual(facts.flavorIds, { [id]: id });
    assert.deepEqual(asked, [{ networkId: id, external: true }, { flavorId: id }]);
  });

  it("finds a flavor by an ID of any form if no flavor has the name", async () => {
    const { flavorIds } = await look(
      { [flavor]: (inputs) => ("name" in inputs ? nothing() : { id: inputs["flavorId"] }) },
      { flavors: ["42"] },
    );
    assert.deepEqual(flavorIds, { "42": "42" });
  });

  it("finds security groups by name or ID, and reports missing ones", async () => {
    const group = "openstack:networking/getSecGroup:getSecGroup";
    const known = ({ name, secgroupId }: Fields) =>
      name === "office" || secgroupId === id ? { id: name ?? secgroupId } : nothing();
    const facts = await look({ [group]: known }, { securityGroups: ["office", id] });
    assert.deepEqual(facts.securityGroupIds, { office: "office", [id]: id });
    assert.equal((await look({})).securityGroupIds, undefined);
    await assert.rejects(
      look({ [group]: known }, { securityGroups: ["office", "elsewhere"] }),
      /needs:\n {2}the security group "elsewhere" does not exist; write the name or ID of another$/,
    );
  });

  it("accepts a floating IP that is free or of the cluster, and refuses others", async () => {
    const [address, port] = [
      ...[
        "openstack:networking/getFloatingIp:getFloatingIp",
        "openstack:networking/getPort:getPort",
      ],
    ] as const;
    const one = { address: "203.0.113.9", path: "ingress.floatingIp" };
    const wanted = { floatingIps: [one] };
    const used = { [address]: () => ({ id: "f", portId: "p" }) };
    const on = (name: string, ...allTags: readonly string[]) => ({
      ...used,
      [port]: () => ({ name, allTags }),
    });
    await look({ [address]: () => ({ id: "f", portId: "" }) }, wanted);
    const state = (outputs: Fields, name = "any") => ({
      "pulumi:pulumi:readStackResourceOutputs": () => ({
        outputs: { [`urn::${name}`]: { type: "x", outputs } },
      }),
    });
    const [identity, another] = ["0123456789ab", "ba9876543210"];
    const held = state({ stdout: identity }, "test-identity");
    const tags = ["stackadm-cluster=dev", `stackadm-identity=${identity}`];
    await look({ ...on("dev-control-plane-0", ...tags), ...held }, wanted);
    const balancer = on("ovn-lb-vip-0b1c");
    for (const its of [{ vipPortId: "p" }, { portId: "p" }])
      await look({ ...balancer, ...state(its) }, wanted);
    for (const other of [
      on("web"),
      // A cluster of the same name with its state in another backend, and one whose state is not
      // available.
      {
        ...on("dev-control-plane-0", "stackadm-cluster=dev", `stackadm-identity=${another}`),
        ...held,
      },
      on("dev-control-plane-0", ...tags),
      ...[on("octavia-lb-0b1c"), balancer],
      { ...balancer, ...state({ vipPortId: "q" }) },
    ])
      await assert.rejects(
        look(other, wanted),
        /the floating IP 203\.0\.113\.9 of ingress\.floatingIp is in use on the port ".*"; write another one, or free it$/,
      );
    await assert.rejects(
      look({ [address]: refuse("No openstack_networking_floatingip_v2 found") }, wanted),
      /203\.0\.113\.9 of ingress\.floatingIp is none of this project's; allocate it, or leave it out$/,
    );
  });

  it("finds a network by a name in the form of an ID", async () => {
    const { externalNetworkId } = await look(
      { [network]: (inputs) => ("name" in inputs ? { id: "e", name: id } : nothing()) },
      { externalNetwork: id },
    );
    assert.equal(externalNetworkId, "e");
  });

  it("reports all missing and ambiguous names in one error", async () => {
    const lookups = {
      [image]: () => ({ ids: ["i1", "i2"] }),
      [network]: refuse("Your query returned more than one result."),
      [flavor]: (inputs: Fields) => ("name" in inputs ? nothing() : refuse("No Flavor found")()),
    };
    await assert.rejects(look(lookups), (error: Error) => {
      assert.ok(pulumi.RunError.isInstance(error));
      assert.equal(
        error.message,
        [
          "[NOT_FOUND] This project of the cloud lacks what the cluster needs:",
          '  2 images are called "debian" (i1, i2); write the ID of one',
          '  several external networks are called "public"; write the ID of one',
          '  the flavor "m" does not exist; write the name or ID of another',
          '  the flavor "l" does not exist; write the name or ID of another',
        ].join("\n"),
      );
      return true;
    });
  });

  describe("with servers in Nova", () => {
    const machine = (position: number, generation = 0) => ({
      name: `dev-a-${position}`,
      image: "debian",
      flavor: "m",
      generation,
    });
    const identity = "0123456789ab";
    const server = (position: number, more: Fields = {}) => ({
      id: String(position),
      name: `dev-a-${position}`,
      status: "ACTIVE",
      metadata: {
        "stackadm-cluster": "dev",
        "stackadm-identity": identity,
        "stackadm-generation": "0",
      },
      ...more,
    });
    /** Looks up the image and the flavor of the machines. Neither exists. */
    const lookFor = async (
      machines: RequiredLookups["machines"],
      servers: readonly object[],
    ): Promise<CloudFacts> => {
      let found: Promise<CloudFacts> | undefined;
      const client = {
        projectId: "project-id",
        request: () => Promise.resolve({ servers }),
      } as unknown as CloudClient;
      const operator = { connect: () => Promise.resolve(client) };
      const lookups = { ...wanted, cluster: "dev", flavors: ["m"], ...(machines && { machines }) };
      const state = () => ({
        outputs: {
          "urn::dev-identity": { type: "x", outputs: { stdout: identity } },
          "urn::dev-a-0-server": {
            type: "openstack:compute/instance:Instance",
            outputs: { id: "0" },
          },
        },
      });
      const answers = {
        ...cloudAnswers.lookups,
        [image]: () => ({ ids: [] }),
        [flavor]: nothing,
        "pulumi:pulumi:readStackResourceOutputs": state,
      };
      await graph(() => (found = lookUpCloud(lookups, {}, operator)), {
        ...cloudAnswers,
        lookups: answers,
      });
      assert.ok(found);
      return found;
    };

    it("accepts that image and flavor of existing servers do not exist any more", async () => {
      const { imageIds, flavorIds } = await lookFor([machine(0)], [server(0)]);
      assert.deepEqual([imageIds, flavorIds], [{ debian: "" }, { m: "" }]);
    });

    for (const [what, machines, servers] of [
      ["a machine without a server", [machine(0), machine(1)], [server(0)]],
      ["a machine that is replaced", [machine(0, 1)], [server(0)]],
      ["a server that Nova could not create", [machine(0)], [server(0, { status: "ERROR" })]],
      ["machines that the caller does not name", undefined, [server(0)]],
    ] as const)
      it(`refuses names that do not exist, for ${what}`, async () => {
        const refused = /image "debian" does not exist.*\n.*flavor "m" does not exist/;
        await assert.rejects(lookFor(machines, servers), refused);
      });
  });

  it("reports an image without a match", async () => {
    await assert.rejects(
      look({ [image]: () => ({ ids: [] }) }),
      /the image "debian" does not exist; write the name or ID of another$/,
    );
  });

  it("reports a refused login once, with the cloud's message", async () => {
    const lookups = { [scope]: refuse("Authentication failed"), [image]: refuse("Forbidden") };
    await assert.rejects(
      look(lookups),
      /^Error: \[AUTH_FAILED\] The cloud cannot be used: Authentication failed$/,
    );
  });

  it("reports an unreachable service instead of a missing name", async () => {
    await assert.rejects(
      look({ [image]: refuse("connection refused") }),
      /^Error: \[CLOUD_UNREACHABLE\] A request to the cloud failed: connection refused$/,
    );
  });

  it("refuses a catalog without a public identity endpoint", async () => {
    const lookups = { [scope]: () => ({ region: "r", roles: [], serviceCatalogs: [] }) };
    await assert.rejects(look(lookups), /no public identity endpoint/);
  });
});
