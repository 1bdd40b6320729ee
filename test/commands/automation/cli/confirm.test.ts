import assert from "node:assert/strict";
import { urnOf } from "../../../support/engine/fake-engine.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import { jsonLines, Operator } from "../../../support/commands/test-user.js";
import { prepareReadyCloud } from "../../../support/cloud/ready-cluster.js";

const identity = {
  urn: urnOf("command:local:Command", "dev-identity"),
  type: "command:local:Command",
  id: "i",
  outputs: { stdout: "0123456789ab" },
};
const place = { region: "one", project: { id: fakeProject, name: "demo" } };
const marks = { "stackadm-cluster": "dev", "stackadm-identity": "0123456789ab" };

describe("the confirmation of `stackadm destroy`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let operator: Operator;
  let servers: object[];
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    servers = [{ id: "s1", name: "dev-control-plane-0", metadata: marks }];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    operator = new Operator(cloud.environment());
    operator.engine.state({ resources: [identity] });
  });
  afterEach(async () => {
    assert.deepEqual(operator.leftovers(), []);
    operator.remove();
    await cloud.close();
  });
  const untouched = (): void => {
    assert.deepEqual(operator.engine.operations(), []);
    assert.ok(cloud.seen.every(({ method }) => method !== "DELETE"));
  };

  it("requires `--yes` without a terminal or with `--json`, before any read of state or cloud", async () => {
    for (const [args, why] of [
      [[], "here is no terminal"],
      [["--abandon", "--json"], "asks no questions"],
    ] as const) {
      const { code, out, err } = await operator.run("destroy", ...args);
      assert.equal(code, 2);
      assert.match(out + err, new RegExp(`needs a confirmation, .*${why}`));
      assert.match(out + err, /Nothing was changed\. Add `--yes` to confirm\./);
    }
    assert.deepEqual([operator.engine.calls(), cloud.seen], [[], []]);
    untouched();
  });

  it("ends the process that was started early for the operation, if the arguments are refused", async () => {
    for (const args of [["destroy"], ["preview", "--cwd", "/"]]) {
      const { code, out, err } = await operator.start(args).ended;
      assert.equal(code, 2, out + err);
    }
    untouched();
  });

  it("shows what will be deleted, and changes nothing without the exact cluster name", async () => {
    for (const keys of ["yes\n", "dev2\n", "\n", ""]) {
      const { code, out, err } = await operator.type(keys, "destroy");
      assert.deepEqual([code, out], [1, ""], err);
      assert.match(
        err,
        /^This destroys the cluster 'dev' \(identity 0123456789ab; cloud 'http:.*', region 'one', project 'demo'; state at f/m,
      );
      assert.match(err, /^server +1 +dev-control-plane-0$/m);
      assert.match(err, /Type the cluster's name to destroy it: /);
      assert.match(err, /error: '.*' is not 'dev', the cluster's name: nothing was changed\./);
    }
    untouched();
  });

  it("exits with code 130 on Ctrl-C", async () => {
    const { code, err } = await operator.type("de\u0003v\n", "destroy");
    assert.equal(code, 130);
    assert.match(err, /error: Stopped on request before anything was changed\./);
    untouched();
  });

  it("continues after the user types the cluster's name", async () => {
    operator.engine.runs({ destroy: { stdout: "going" } });
    servers.pop();
    const { code, out } = await operator.type("dev\n", "destroy");
    assert.equal(code, 0);
    assert.match(out, /^Nothing of cluster 'dev' is left/m);
    assert.deepEqual(operator.engine.operations(), ["destroy", "destroy"]);
  });

  it("requires the names of all clusters of the stack", async () => {
    const [urn, stdout] = [urnOf("command:local:Command", "test-identity"), "ba9876543210"];
    operator.engine.state({ resources: [identity, { ...identity, urn, outputs: { stdout } }] });
    for (const keys of ["dev\n", "test\n", "dev dev\n"]) {
      const { code, err } = await operator.type(keys, "destroy");
      assert.equal(code, 1);
      assert.match(err, /^This destroys the clusters 'dev', 'test' \(identity 0123456789ab, ba98/m);
      assert.match(
        err,
        /error: '.*' is not 'dev test', the clusters' names: nothing was changed\./,
      );
    }
    untouched();
    operator.engine.runs({ destroy: { stdout: "going" } });
    servers.pop();
    const { code, out } = await operator.type("test dev\n", "destroy");
    assert.equal(code, 0);
    assert.match(out, /^Nothing of clusters 'dev', 'test' is left/m);
  });

  it("prints the plan as one line with `--yes`, and as an event with `--json`", async () => {
    operator.engine.runs({ destroy: { code: 255, stderr: "error: no\n" } });
    const { err } = await operator.run("destroy", "--yes");
    assert.match(err, /^Destroying the cluster 'dev' \(identity .*\): 1 server\.$/m);
    const { out } = await operator.run("destroy", "--yes", "--json");
    const plan = jsonLines(out).find(({ type }) => type === "plan");
    assert.deepEqual(
      [plan?.["cluster"], plan?.["identities"], plan?.["place"], plan?.["goes"], plan?.["volumes"]],
      [
        "dev",
        ["0123456789ab"],
        { ...place, cloud: cloud.authUrl },
        [{ kind: "server", id: "s1", name: "dev-control-plane-0" }],
        [],
      ],
    );
  });

  it("refuses a protected cluster despite `--yes`, `--abandon` or a typed name", async () => {
    operator.engine.state({ resources: [{ ...identity, protect: true }] });
    const refused = [
      await operator.run("destroy", "--yes"),
      await operator.run("destroy", "--yes", "--abandon"),
      await operator.type("dev\n", "destroy"),
    ];
    for (const { code, err } of refused) {
      assert.equal(code, 1);
      assert.match(err, /error: The cluster 'dev' is protected: .* Nothing was changed\.\n/);
      assert.match(err, /write `protect: false` in Pulumi\.dev\.yaml and run `stackadm up --s/);
      assert.doesNotMatch(err, /Type the cluster's name/);
    }
    untouched();
  });
});
