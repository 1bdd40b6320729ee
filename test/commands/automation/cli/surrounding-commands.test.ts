import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";
import { golden } from "../../../support/golden.js";
import { jsonLines, lastLine, Operator } from "../../../support/commands/test-user.js";
import { prepareReadyCloud } from "../../../support/cloud/ready-cluster.js";

describe("commands for the environment of a cluster", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let operator: Operator;
  let holder: ChildProcess | undefined;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    operator = new Operator(cloud.environment());
  });
  afterEach(async () => {
    holder?.kill();
    holder = undefined;
    assert.deepEqual(operator.leftovers(), []);
    operator.remove();
    await cloud.close();
  });
  const lock = (pid: number): string => {
    const folder = [".pulumi", "locks", "organization", "stackadm", "dev"];
    const file = operator.state("pulumi", ...folder, "lock.json");
    mkdirSync(dirname(file), { recursive: true });
    const timestamp = "2026-01-02T03:04:05Z";
    writeFileSync(file, JSON.stringify({ pid, username: "ann", hostname: hostname(), timestamp }));
    return file;
  };
  const deadPid = (): number => spawnSync("true").pid;
  const livingPulumi = async (): Promise<number> => {
    const file = join(operator.home, "pulumi");
    symlinkSync("/bin/sleep", file);
    holder = spawn(file, ["60"]);
    await once(holder, "spawn");
    return holder.pid ?? 0;
  };

  describe("`stackadm doctor`", () => {
    it("shows cloud, backend, key, tools and locks, and the flavors that the cloud lacks", async () => {
      lock(deadPid());
      cloud.on("GET /compute/flavors/detail", { body: { flavors: [] } });
      const { code, out } = await operator.start(["doctor"]).ended;
      assert.equal(code, 3);
      const readable = out
        .replaceAll(operator.home, "HOME")
        .replaceAll(operator.package, "PACKAGE")
        .replaceAll(hostname(), "this-host")
        .replaceAll(/127\.0\.0\.1:\d+/g, "cloud.example")
        .replaceAll(/process \d+/g, "process 12");
      golden("cli/doctor-table.txt", readable);
      const [result, error] = jsonLines((await operator.run("doctor", "--json")).out).slice(-2);
      const { ok, stack, backend, loginKey, tools, kubectl, locks, quotas } = result ?? {};
      assert.deepEqual([ok, stack, loginKey], [false, "dev", "own"]);
      assert.equal(backend, `file://${operator.state("pulumi")}`);
      assert.equal((tools as { name: string }[])[0]?.name, "pulumi");
      assert.deepEqual(kubectl, { version: "v1.36.3" });
      assert.match(String((locks as string[])[0]), /^process \d+ of ann on /);
      assert.deepEqual((quotas as unknown[])[0], {
        name: "instances",
        limit: 10,
        used: 0,
        needed: 3,
      });
      assert.deepEqual([error?.["type"], error?.["code"]], ["error", "PREFLIGHT_FAILED"]);
      assert.match(
        String(error?.["message"]),
        /^The cluster does not fit .*:\n {2}controlPlane\.flavor: /,
      );
      assert.ok(!existsSync(operator.kubeconfig()));
    });

    it("succeeds with warnings only, and prints the warnings as JSON", async () => {
      cloud.on("GET /compute/limits", { status: 403, body: { forbidden: { message: "no" } } });
      const { code, out } = await operator.run("doctor", "--json");
      assert.equal(code, 0);
      const { ok, findings } = lastLine(out);
      assert.equal(ok, true);
      assert.deepEqual(findings, [
        { severity: "warning", text: "quota: the compute service does not show the quota to you" },
      ]);
    });

    it("reports that the local kubectl is too old for the cluster, and still succeeds", async () => {
      operator.kubectl("v1.29.0");
      const { code, out } = await operator.run("doctor");
      assert.equal(code, 0);
      assert.match(
        out,
        /^kubectl +kubectl of this machine is v1\.29\.0, .* install one of 1\.35 /m,
      );
    });

    it("creates the user's key and passphrase once, readable by the owner only, and advises a copy", async () => {
      operator.isNew();
      const { err } = await operator.run("doctor");
      for (const path of [operator.state("passphrase"), operator.state("ssh", "id_ed25519")])
        assert.match(err, new RegExp(`^Created ${path}\\b.* Keep a copy: `, "m"));
      for (const path of [operator.state("passphrase"), operator.state("ssh", "id_ed25519")])
        assert.equal(statSync(path).mode & 0o777, 0o600, path);
      const before = statSync(operator.state("ssh", "id_ed25519")).mtimeMs;
      assert.doesNotMatch((await operator.run("doctor")).err, /^Created/m);
      assert.equal(statSync(operator.state("ssh", "id_ed25519")).mtimeMs, before);
    });
  });

  describe("`stackadm unlock`", () => {
    const by = (pid: number): string =>
      `process ${pid} of ann on ${hostname()}, since 2026-01-02T03:04:05Z`;

    it("requires `--yes` without a terminal", async () => {
      const file = lock(deadPid());
      const { code, err } = await operator.run("unlock");
      assert.equal(code, 2);
      assert.match(err, /`unlock` needs a confirmation, .*Add `--yes`/s);
      assert.ok(existsSync(file));
    });

    it("shows the lock's owner, and removes the lock after the user types the stack's name", async () => {
      const pid = deadPid();
      const file = lock(pid);
      const refused = await operator.type("yes\n", "unlock");
      assert.equal(refused.code, 1);
      assert.ok(refused.err.includes(`Stack 'dev' is locked by ${by(pid)}.\n`), refused.err);
      assert.match(refused.err, /error: 'yes' is not 'dev', the stack's name: nothing was changed/);
      assert.ok(existsSync(file));
      const { code, out } = await operator.type("dev\n", "unlock");
      assert.deepEqual([code, out], [0, `Removed the lock of ${by(pid)}.\n`]);
      assert.ok(!existsSync(file));
      assert.equal((await operator.run("unlock", "--yes")).out, "Stack 'dev' is not locked.\n");
    });

    it("prints the lock's owner as JSON, and removes the lock with `--yes`", async () => {
      const pid = deadPid();
      lock(pid);
      const { out } = await operator.run("unlock", "--yes", "--json");
      const shown = jsonLines(out).find(({ type }) => type === "locks");
      assert.deepEqual(shown, { type: "locks", holders: [by(pid)] });
      assert.deepEqual(lastLine(out), { type: "result", ok: true, removed: [by(pid)] });
    });

    it("refuses with exit code 4 while the locking process runs, also with `--yes`", async () => {
      const pid = await livingPulumi();
      const file = lock(pid);
      const { code, out, err } = await operator.run("unlock", "--yes");
      assert.deepEqual([code, out], [4, ""]);
      assert.ok(err.includes(`\nerror: Another operation holds this stack: process ${pid} of ann`));
      assert.ok(existsSync(file));
    });

    it("is required before `destroy` on a locked stack, also if the locking process is dead", async () => {
      operator.engine.state({});
      lock(await livingPulumi());
      assert.equal((await operator.run("destroy", "--yes")).code, 4);
      lock(deadPid());
      assert.equal((await operator.run("destroy", "--yes")).code, 4);
    });
  });

  describe("`stackadm toolchain`", () => {
    it("shows each tool with version, origin and reason", async () => {
      const { code, out, err } = await operator.run("toolchain");
      assert.deepEqual([code, err], [0, ""]);
      const rows = out.trimEnd().split("\n").slice(1);
      assert.deepEqual(
        rows.map((row) => row.split(/ {2,}/).slice(0, 3).join(" ")),
        [
          "pulumi v3.250.0 found",
          "pulumi-language-nodejs v3.250.0 found",
          "pulumi-resource-openstack unknown found",
          "pulumi-resource-kubernetes unknown found",
          "pulumi-resource-command unknown found",
        ],
      );
    });

    it("prints the environment variables as JSON", async () => {
      const [result, ...more] = jsonLines((await operator.run("toolchain", "--json")).out);
      assert.deepEqual(more, []);
      const { PATH = "" } = result?.["environment"] as Record<string, string>;
      const { status, stdout } = spawnSync("pulumi", ["version"], {
        env: { ...operator.environment(), PATH },
        encoding: "utf8",
      });
      assert.deepEqual([status, stdout], [0, "v3.250.0\n"]);
    });
  });

  describe("`stackadm env`", () => {
    it("prints shell code that provides `pulumi`, the backend's variables and the login key", async () => {
      const { code, out } = await operator.run("env");
      assert.equal(code, 0);
      const script = `eval "$LINES_OF_ENV"\npulumi version\nssh-add -L\nssh-agent -k >/dev/null\nenv`;
      const shell = spawnSync("sh", ["-ec", script], {
        env: { ...operator.environment(), LINES_OF_ENV: out },
        encoding: "utf8",
      });
      assert.equal(shell.status, 0, shell.stderr);
      const [version, key, ...variables] = shell.stdout.split("\n");
      assert.equal(version, "v3.250.0");
      assert.match(key ?? "", /^ssh-ed25519 \S+ stackadm$/);
      for (const name of ["PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE_FILE"])
        assert.ok(
          variables.some((line) => line.startsWith(`${name}=`)),
          name,
        );
    });

    it("advises on standard error to keep a copy of the new login key", async () => {
      operator.isNew();
      const { out, err } = await operator.run("env");
      assert.match(err, /ssh\/id_ed25519, the login key /);
      assert.doesNotMatch(out, /is made/);
    });

    it("prints the other variables if no passphrase can be created, and warns once", async () => {
      operator.isNew();
      const { code, out, err } = await operator.runWith(
        { PULUMI_BACKEND_URL: "s3://bucket" },
        "env",
      );
      assert.equal(code, 0, err);
      assert.match(out, /^export PULUMI_BACKEND_URL=s3:\/\/bucket$/m);
      assert.doesNotMatch(out, /PASSPHRASE/);
      assert.equal(err.match(/No passphrase is set for .* s3:\/\/bucket/g)?.length, 1);
    });

    it("omits the cloud's password, which the shell already has", async () => {
      assert.ok(!(await operator.run("env")).out.includes("correct horse"));
    });
  });
});
