import assert from "node:assert/strict";
import type { RunPeriod } from "../../../../automation/pulumi/run-history.js";
import {
  findFailedRunPeriods,
  findPortsWithoutScripts,
  attributeUnrecordedServer,
} from "../../../../automation/repair/left-behind-servers.js";
import type { StateExport } from "../../../../automation/pulumi/stack-state.js";
import { object } from "../../../support/cloud/cloud-object.js";
import type { CloudObject } from "../../../../openstack/inventory/inventory.js";

describe("attributeUnrecordedServer", () => {
  const [from = 0, to = 0] = ["2026-01-02T08:00:00Z", "2026-01-02T08:30:00Z"].map(Date.parse);
  const port = (fields: Partial<CloudObject> = {}): CloudObject =>
    object({ kind: "port", id: "its port", device: "server", ...fields });
  const verdict = (
    objects: readonly CloudObject[],
    {
      created = "2026-01-02T08:10:00Z",
      ended = [{ from, to }],
    }: { readonly created?: string; readonly ended?: readonly RunPeriod[] } = {},
  ) => {
    const unreached = new Set(["its port", "second port"]);
    const server = object({ kind: "server", id: "server", created });
    return attributeUnrecordedServer(server, { ended, objects, unreached }).is;
  };

  it("attributes a server to an ended run if all its ports are of a machine that no script has reached", () => {
    assert.equal(verdict([port()]), "left behind");
    assert.equal(verdict([port(), port({ id: "second port" })]), "left behind");
    assert.equal(verdict([port(), port({ device: "another", id: "other" })]), "left behind");
  });

  it("returns 'unproven' otherwise, because the server may be in use", () => {
    assert.equal(verdict([]), "unproven");
    assert.equal(verdict([port({ device: "another" })]), "unproven");
    assert.equal(verdict([port({ id: "of a machine that a script has reached" })]), "unproven");
    assert.equal(verdict([port(), port({ id: "unknown" })]), "unproven");
    assert.equal(verdict([port()], { created: "2026-01-02T09:00:00Z" }), "unproven");
    assert.equal(verdict([port()], { created: "" }), "unproven");
    assert.equal(verdict([port()], { ended: [] }), "unproven");
  });

  it("considers only ended runs whose resources are in the state", () => {
    const state = (written: string, created: string): StateExport => ({
      version: 3,
      deployment: {
        manifest: { time: written },
        resources: [{ urn: "urn:a::b::c::d", type: "c", custom: true, created }],
      },
    });
    const during = "2026-01-02T08:05:00Z";
    const whole = state("2026-01-02T08:30:00Z", during);
    const of = (one: StateExport, how: object = { ended: true }): number =>
      findFailedRunPeriods(one, [{ from, to, ...how }]).length;
    assert.equal(of(whole), 1);
    for (const how of [{}, { atMost: true }, { destroyed: true }]) assert.equal(of(whole, how), 0);
    assert.equal(of(state("2026-01-02T08:20:00Z", during)), 0, "written while it was at work");
    assert.equal(of(state("2026-01-02T08:40:00Z", "2026-01-02T07:00:00Z")), 0, "brought back");
    assert.equal(of({ version: 3, deployment: { resources: [] } }), 0);
  });

  it("considers a machine unreached if the state has no script of the machine", () => {
    const state = (...resources: readonly (readonly [string, string])[]): StateExport => ({
      version: 3,
      deployment: {
        resources: resources.map(([type, name]) => ({
          urn: `urn:pulumi:s::p::${type}::${name}`,
          type,
          custom: true,
          id: `id of ${name}`,
        })),
      },
    });
    const [portType, script] = [
      "openstack:networking/port:Port",
      "command:remote:Command",
    ] as const;
    const ports = [
      [portType, "dev-a-1-port"],
      [portType, "dev-a-1-admin-port"],
      [portType, "dev-a-10-port"],
      ["openstack:networking/network:Network", "dev-a-2-port"],
    ] as const;
    const both = ["id of dev-a-1-port", "id of dev-a-1-admin-port"];
    const all = [...both, "id of dev-a-10-port"];
    assert.deepEqual([...findPortsWithoutScripts(state(...ports))], all);
    assert.deepEqual(
      [...findPortsWithoutScripts(state(...ports, [script, "dev-a-10-prepare"]))],
      both,
    );
    assert.deepEqual(
      [...findPortsWithoutScripts(state(...ports, [script, "dev-a-1-join"]))],
      ["id of dev-a-10-port"],
    );
  });
});
