import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import {
  findServers,
  classifyRecordedServer,
} from "../../../../components/lookup/existing-servers.js";
import { localContextOf } from "../../../../components/lookup/local-context.js";
import {
  listServers,
  selectClusterServers,
  type ExistingServers,
  type OwnCluster,
} from "../../../../components/lookup/server-metadata.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";

const identity = "0123456789ab";
const mark = { "stackadm-cluster": "dev", "stackadm-identity": identity };
const never = (id: string): Record<string, string> => ({ "stackadm-never-answered": id });

describe("existing servers", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
  });
  afterEach(() => cloud.close());

  /** Returns the servers as their marks describe them, for a state with the identity. */
  const foundBy = async (
    held: OwnCluster["held"],
    ...servers: readonly object[]
  ): Promise<ExistingServers> => {
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    const client = await connectCloud({ env: cloud.environment() });
    return selectClusterServers(await listServers(client, "dev"), { cluster: "dev", held });
  };
  const holding = (...owned: readonly string[]) => ({
    owned: new Set(owned),
    identities: new Set([identity]),
  });
  const found = (...servers: readonly object[]): Promise<ExistingServers> =>
    foundBy(holding(), ...servers);

  it("are requested by the cluster's name", async () => {
    await found();
    assert.match(cloud.seen.at(-1)?.path ?? "", /^\/compute\/.*servers\/detail\?name=%5Edev-/);
  });

  it("have the generation of their metadata, or none", async () => {
    const servers = await found(
      { id: "a", name: "dev-a-0", metadata: { ...mark, "stackadm-generation": "2" } },
      { id: "b", name: "dev-a-1", metadata: mark },
    );
    assert.deepEqual(servers, {
      "dev-a-0": { id: "a", generation: "2", failed: false },
      "dev-a-1": { id: "b", generation: "", failed: false },
    });
  });

  it("exclude servers of other clusters", async () => {
    const other = { "stackadm-cluster": "dev-a" };
    const servers = [
      { id: "a", name: "dev-a-0", metadata: other },
      { id: "b", name: "dev-b-0" },
    ];
    assert.deepEqual(await found(...servers), {});
  });

  it("have no known generation if two servers of the cluster share a name and differ, and none has failed", async () => {
    const of = (id: string, generation: string): object => ({
      id,
      name: "dev-a-0",
      metadata: { ...mark, ...never(id), "stackadm-generation": generation },
    });
    const servers = async (...two: object[]): Promise<unknown> => (await found(...two))["dev-a-0"];
    const unclear = { id: "", failed: false };
    assert.deepEqual(await servers(of("a", "1"), of("b", "0")), { ...unclear, generation: "" });
    assert.deepEqual(await servers(of("a", "1"), of("b", "1")), { ...unclear, generation: "1" });
    // The state names the machine's server; a killed run lost the record of the other one.
    const two = await foundBy(holding("a"), of("b", "0"), of("a", "1"));
    assert.deepEqual(two["dev-a-0"], { id: "a", generation: "1", failed: true });
  });

  it("are failed if marked with their own ID or in status ERROR", async () => {
    const of = (name: string, metadata: object, status = "ACTIVE"): object => ({
      id: name,
      name: `dev-${name}`,
      status,
      metadata: { ...mark, ...metadata },
    });
    const servers = await found(
      ...[of("a", never("a")), of("b", never("a")), of("c", {}, "ERROR"), of("d", {})],
    );
    const failed = Object.values(servers).filter((server) => server.failed);
    assert.deepEqual(
      failed.map(({ id }) => id),
      ["a", "c"],
    );
  });

  describe("for a run", () => {
    it("are unknown in another project and if Nova refuses the request", async () => {
      const operator = localContextOf(cloud.environment());
      cloud.on("GET /compute/servers/detail", { body: { servers: [] } });
      assert.deepEqual(await findServers("dev", fakeProject, operator), {});
      assert.equal(await findServers("dev", "another", operator), undefined);
      cloud.on("GET /compute/servers/detail", { status: 403 });
      assert.equal(await findServers("dev", fakeProject, operator), undefined);
    });

    it("fail the run if Nova's answer has another shape, because the parser may be wrong", async () => {
      cloud.on("GET /compute/servers/detail", { body: { servers: [{ id: 1 }] } });
      const operator = localContextOf(cloud.environment());
      await assert.rejects(findServers("dev", fakeProject, operator), { name: "ZodError" });
    });

    it("are not failed if the state cannot be queried", async () => {
      const servers = [{ id: "a", name: "dev-a-0", metadata: { ...mark, ...never("a") } }];
      cloud.on("GET /compute/servers/detail", { body: { servers } });
      const found = await findServers("dev", fakeProject, localContextOf(cloud.environment()));
      assert.equal(found?.["dev-a-0"]?.failed, false);
    });
  });

  describe("for a run whose state has the servers", () => {
    const held = (urn: string, type: string, outputs: object) => ({
      [`urn:pulumi:dev::stackadm::stackadm:index:Cluster$${type}::${urn}`]: { type, outputs },
    });
    /** Sets mocks of the engine: its only answer is the content of the state. */
    const begin = (serverId: string, preview: boolean, outputs: object = {}): Promise<void> =>
      pulumi.runtime.setMocks(
        {
          newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }),
          call: () => ({
            outputs: {
              ...held("dev-a-0-server", "openstack:compute/instance:Instance", {
                id: "a",
                ...outputs,
              }),
              ...held("dev-a-0-prepare", "command:remote:Command", {
                create: `prepare \\\n  SERVER_ID=${serverId}`,
              }),
            },
          }),
        },
        "stackadm",
        "dev",
        preview,
        "organization",
      );
    const marked = { id: "a", name: "dev-a-0", metadata: { ...mark, ...never("a") } };
    const failed = async (): Promise<boolean | undefined> => {
      cloud.on("GET /compute/servers/detail", { body: { servers: [marked] } });
      cloud.on("DELETE /compute/servers/a/metadata/stackadm-never-answered", { status: 204 });
      const found = await findServers("dev", fakeProject, localContextOf(cloud.environment()));
      return found?.["dev-a-0"]?.failed;
    };
    const removed = (): number =>
      cloud.seen.filter(({ method, path }) => method === "DELETE" && path.endsWith("-answered"))
        .length;
    afterEach(() =>
      pulumi.runtime.setMocks({ newResource: () => assert.fail(), call: () => ({}) }),
    );

    it("lose their mark after a script succeeded on them, but not in a preview", async () => {
      await begin("a", true);
      assert.deepEqual([await failed(), removed()], [false, 0]);
      await begin("a", false);
      assert.deepEqual([await failed(), removed()], [false, 1]);
    });

    it("stay failed if scripts ran on other servers only", async () => {
      await begin("b", false);
      assert.deepEqual([await failed(), removed()], [true, 0]);
    });

    it("are flagged if the provider would refuse their recorded or current power state", async () => {
      for (const [recorded, status, refused] of [
        ["active", "ACTIVE", undefined],
        ["active", "MIGRATING", true],
        ["migrating", "ACTIVE", true],
        ["shutoff", "MIGRATING", undefined],
        [undefined, "MIGRATING", undefined],
      ] as const) {
        await begin("a", false, { powerState: recorded });
        const servers = [{ id: "a", name: "dev-a-0", status, metadata: mark }];
        cloud.on("GET /compute/servers/detail", { body: { servers } });
        const found = await findServers("dev", fakeProject, localContextOf(cloud.environment()));
        assert.equal(found?.["dev-a-0"]?.powerRefused, refused, `${String(recorded)} ${status}`);
      }
    });
  });
});

describe("classifyRecordedServer", () => {
  const instance = (name: string, id: string) => ({
    name: `${name}-server`,
    type: "openstack:compute/instance:Instance",
    outputs: { id },
  });
  const script = (name: string, id: string) => ({
    name,
    type: "command:remote:Command",
    outputs: { create: `sudo \\\n  SERVER_ID=${id}` },
  });

  it("returns 'not ours' for a server that the state does not have", () => {
    assert.equal(classifyRecordedServer("b", [instance("dev-a-0", "a")]), "not ours");
  });

  it("returns 'new' if scripts ran on an earlier server only", () => {
    const before = [script("dev-a-0-prepare", "a"), script("dev-a-01-prepare", "b")];
    assert.equal(classifyRecordedServer("b", [instance("dev-a-0", "b")]), "new");
    assert.equal(classifyRecordedServer("b", [instance("dev-a-0", "b"), ...before]), "new");
  });

  it("returns 'part of the cluster' as soon as one script has succeeded on the server", () => {
    for (const step of ["prepare", "init", "join"]) {
      const state = [instance("dev-a-0", "b"), script(`dev-a-0-${step}`, "b")];
      assert.equal(classifyRecordedServer("b", state), "part of the cluster", step);
    }
  });

  it("returns 'new' after a login only, which changes nothing on the machine", () => {
    const state = [instance("dev-a-0", "b"), script("dev-a-0-login", "b")];
    assert.equal(classifyRecordedServer("b", state), "new");
  });

  it("returns 'part of the cluster' if the script's server is unreadable", () => {
    const sealed = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
    for (const stdin of [undefined, { ...sealed, value: "SERVER_ID='b'" }, "[secret]", ""]) {
      const unread = { ...script("dev-a-0-prepare", "b"), outputs: { stdin } };
      const state = [instance("dev-a-0", "b"), instance("dev-c-0", "c"), unread];
      assert.equal(
        classifyRecordedServer("b", state),
        "part of the cluster",
        JSON.stringify(stdin),
      );
      assert.equal(classifyRecordedServer("c", state), "new", "it is of another machine");
    }
  });
});
