import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { jsonLines, lastLine, Operator } from "../../../support/commands/test-user.js";
import {
  prepareReadyCloud,
  startFakeCluster,
  type FakeCluster,
} from "../../../support/cloud/ready-cluster.js";

describe("a command in the user's own project", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let cluster: FakeCluster;
  let operator: Operator;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    cluster = await startFakeCluster();
    operator = new Operator(cloud.environment());
    operator.engine.outputs(cluster.outputs);
    mkdirSync(join(operator.home, "mine"));
    put("Pulumi.yaml", "name: mine\nruntime: nodejs\n");
    put("Pulumi.prod.yaml", "config: {}\n");
  });
  afterEach(async () => {
    assert.deepEqual(operator.leftovers(), []);
    operator.remove();
    await cluster.close();
    await cloud.close();
  });
  const put = (file: string, text: string): void => {
    writeFileSync(join(operator.home, "mine", file), text);
  };
  const run = (...args: string[]) => operator.run("--cwd", "mine", "-s", "prod", ...args);
  const theirs = {
    urn: "urn:pulumi:prod::mine::aws:s3/bucket:Bucket::theirs",
    type: "aws:s3/bucket:Bucket",
    custom: true,
    id: "theirs",
  };
  const network = { urn: urnOf(networkType, "net"), type: networkType, custom: true, id: "n" };
  const settings = (project: string): string =>
    readFileSync(join(operator.package, "Pulumi.dev.yaml"), "utf8").replace(
      "stackadm:cluster",
      `${project}:cluster`,
    );

  describe("with its own program", () => {
    beforeEach(() => {
      put("index.ts", "throw new Error('it ran');\n");
    });

    it("reads the cluster without settings, and warns that it skips the check of the cloud", async () => {
      operator.engine.state({});
      const [backend, status] = jsonLines((await run("status", "--json")).out);
      assert.deepEqual([backend?.["type"], backend?.["stack"]], ["backend", "prod"]);
      assert.deepEqual([status?.["type"], status?.["stack"]], ["result", "prod"]);
      const { code, out } = await run("kubeconfig", "--print");
      assert.deepEqual([code, out], [0, cluster.kubeconfig]);
      assert.equal((await run("outputs")).code, 0);
      const doctor = await run("doctor", "--json");
      assert.equal(doctor.code, 0);
      const { project, findings } = lastLine(doctor.out);
      assert.equal(project, join(operator.home, "mine"));
      assert.match(JSON.stringify(findings), /"warning","text":"cluster: not checked in the cloud/);
      assert.ok(operator.engine.calls().every((call) => /--stack prod$|^version/.test(call)));
    });

    it("checks the cloud if the stack's settings describe the cluster", async () => {
      put("Pulumi.prod.yaml", settings("mine"));
      const { code, out } = await run("doctor");
      assert.equal(code, 0);
      assert.match(out, /^The cluster fits into this cloud\.$/m);
    });

    it("refreshes, unlocks and destroys without running the program", async () => {
      operator.engine.state({});
      for (const args of [["refresh"], ["unlock", "--yes"], ["destroy", "--yes"]])
        assert.equal((await run(...args)).code, 0, args[0]);
      assert.deepEqual(operator.engine.operations(), ["refresh", "destroy"]);
    });

    it("refuses to refresh or destroy a stack without a cluster", async () => {
      operator.engine.state({ resources: [theirs] });
      for (const args of [["refresh"], ["destroy", "--yes"]]) {
        const { code, err } = await run(...args);
        assert.equal(code, 2, args[0]);
        assert.match(err, /^error: Stack 'prod' of project 'mine' has resources, but no /m);
      }
      assert.deepEqual(operator.engine.operations(), []);
    });

    it("names the project directory when it destroys", async () => {
      operator.engine.state({ resources: [network] });
      const where = `The project is in ${join(operator.home, "mine")}.`;
      const asked = await operator.type("no\n", "--cwd", "mine", "-s", "prod", "destroy");
      assert.ok(asked.err.includes(where), asked.err);
      const { err } = await run("destroy", "--yes");
      assert.ok(err.includes(where), err);
    });

    it("refuses to run the package's program instead of the project's program", async () => {
      for (const command of ["up", "preview"]) {
        const { code, out, err } = await run(command);
        assert.deepEqual([code, out], [2, ""], command);
        assert.match(
          err,
          /^\nerror: `\w+` runs the program of stackadm, but the project in \S+mine /,
        );
      }
      assert.deepEqual(operator.engine.operations(), []);
    });
  });

  it("refuses to run the package's program on a stack without a cluster", async () => {
    put("Pulumi.prod.yaml", settings("mine"));
    operator.engine.state({ resources: [theirs] });
    for (const args of [["up"], ["preview"], ["up", "--expect-no-changes"]]) {
      const { code, err } = await run(...args);
      assert.equal(code, 2, args.join(" "));
      assert.match(err, /^error: Stack 'prod' of project 'mine' has resources, but no /m);
    }
    assert.deepEqual(operator.engine.operations(), []);
  });

  it("runs the package's program for a project that has only settings under its own key", async () => {
    put("Pulumi.prod.yaml", settings("mine"));
    const { code, err } = await run("preview");
    assert.equal(code, 0, err);
    assert.deepEqual(operator.engine.operations(), ["preview"]);
  });

  it("reports the right key for settings that were copied from another project", async () => {
    put("Pulumi.prod.yaml", settings("stackadm"));
    const { code, err } = await run("preview");
    assert.equal(code, 2);
    assert.match(
      err,
      /^ {2}mine:cluster: is missing; the project is called mine, so write it instead of stackadm:cluster$/m,
    );
  });

  it("creates no passphrase if the settings name another secrets provider", async () => {
    operator.isNew();
    put("index.ts", "");
    put("Pulumi.prod.yaml", "secretsprovider: awskms://alias/stacks\nencryptedkey: AAAA\n");
    operator.engine.state({});
    const env = { PULUMI_BACKEND_URL: "s3://bucket" };
    const { code, err } = await operator.runWith(env, "-C", "mine", "-s", "prod", "outputs");
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /passphrase/);
  });
});
