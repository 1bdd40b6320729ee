import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TimelineRow } from "../../../../automation/timeline/critical-path.js";
import {
  writeKubeconfigAfterUp,
  writeTimeline,
  getKubeconfigPath,
  moveEarlierKubeconfig,
  removeClusterFiles,
  getTimelinePath,
  writeKubeconfig,
} from "../../../../automation/engine/local-cluster-files.js";

describe("kubeconfig file", () => {
  let state: string;
  const before = process.env["XDG_STATE_HOME"];
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), "kubeconfig-"));
    process.env["XDG_STATE_HOME"] = state;
  });
  afterEach(() => {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(state, { recursive: true });
  });
  const mode = (path: string): number => statSync(path).mode & 0o777;
  const stack = (name = "dev") => ({
    stack: name,
    directory: join(state, "stackadm", "work", name),
  });
  const files = (): string[] => readdirSync(stack().directory);
  const write = (text: string): Promise<string> => writeKubeconfig(stack(), text);

  it("is readable only by its owner, like the directory created for the file", async () => {
    const path = await write("secret");
    assert.equal(path, getKubeconfigPath(stack()));
    assert.equal(readFileSync(path, "utf8"), "secret");
    assert.deepEqual([mode(path), mode(dirname(path))], [0o600, 0o700]);
  });

  it("becomes private even if the earlier file was readable by others", async () => {
    const path = await write("old");
    chmodSync(path, 0o644);
    await write("new");
    assert.deepEqual([readFileSync(path, "utf8"), mode(path)], ["new", 0o600]);
  });

  it("exists once per stack", async () => {
    await write("of dev");
    await writeKubeconfig(stack("prod"), "of prod");
    assert.equal(readFileSync(getKubeconfigPath(stack()), "utf8"), "of dev");
    assert.deepEqual(files(), ["kubeconfig"]);
  });

  it("is replaced atomically", async () => {
    const path = await write("old");
    const inode = statSync(path).ino;
    await write("new");
    assert.notEqual(statSync(path).ino, inode);
    assert.deepEqual(files(), ["kubeconfig"]);
  });

  it("leaves no copy of the secret if the file cannot be replaced", async () => {
    mkdirSync(getKubeconfigPath(stack()), { recursive: true });
    writeFileSync(join(getKubeconfigPath(stack()), "x"), "");
    await assert.rejects(write("secret"));
    assert.deepEqual(files(), ["kubeconfig"]);
  });

  it("is written after `up` unless the caller disables it, and the timeline page is private too", async () => {
    const outputs = { kubeconfig: { value: "secret", secret: true } };
    const row = { name: "vm", type: "t", operation: "create", startedAt: 0, endedAt: 1 };
    const timeline = [{ ...row, critical: true }] as unknown as TimelineRow[];
    assert.deepEqual(
      await writeKubeconfigAfterUp(stack(), { outputs }, { kubeconfigFile: false }),
      {},
    );
    assert.ok(!existsSync(getKubeconfigPath(stack())));
    const kept = { kubeconfigPath: getKubeconfigPath(stack()) };
    assert.deepEqual(await writeKubeconfigAfterUp(stack(), { outputs }, {}), kept);
    const page = getTimelinePath(stack());
    assert.deepEqual(writeTimeline(stack(), timeline), { timelinePath: page });
    assert.match(readFileSync(page, "utf8"), /up of dev/);
    assert.equal(mode(page), 0o600);
  });

  it("is deleted together with the timeline page, and may be missing", async () => {
    await write("secret");
    writeFileSync(getTimelinePath(stack()), "page");
    for (let time = 0; time < 2; time += 1) {
      removeClusterFiles(stack());
      assert.deepEqual(files(), []);
    }
  });

  it("of an earlier release is moved only if the file exists", async () => {
    await moveEarlierKubeconfig(stack(), () => assert.fail("nobody has to know"));
    mkdirSync(join(state, "stackadm"));
    writeFileSync(join(state, "stackadm", "kubeconfig-dev"), "leads nowhere");
    let asked = 0;
    await moveEarlierKubeconfig(stack(), () => {
      asked += 1;
      return [];
    });
    assert.equal(asked, 1);
  });
});
