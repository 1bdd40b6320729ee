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
  const write = (text: string): string => writeKubeconfig(stack(), text);

  it("is readable only by its owner, like the directory created for the file", () => {
    const path = write("secret");
    assert.equal(path, getKubeconfigPath(stack()));
    assert.equal(readFileSync(path, "utf8"), "secret");
    assert.deepEqual([mode(path), mode(dirname(path))], [0o600, 0o700]);
  });

  it("becomes private even if the earlier file was readable by others", () => {
    const path = write("old");
    chmodSync(path, 0o644);
    write("new");
    assert.deepEqual([readFileSync(path, "utf8"), mode(path)], ["new", 0o600]);
  });

  it("exists once per stack", () => {
    write("of dev");
    writeKubeconfig(stack("prod"), "of prod");
    assert.equal(readFileSync(getKubeconfigPath(stack()), "utf8"), "of dev");
    assert.deepEqual(files(), ["kubeconfig"]);
  });

  it("is replaced atomically", () => {
    const path = write("old");
    const inode = statSync(path).ino;
    write("new");
    assert.notEqual(statSync(path).ino, inode);
    assert.deepEqual(files(), ["kubeconfig"]);
  });

  it("leaves no copy of the secret if the file cannot be replaced", () => {
    mkdirSync(getKubeconfigPath(stack()), { recursive: true });
    writeFileSync(join(getKubeconfigPath(stack()), "x"), "");
    assert.throws(() => write("secret"));
    assert.deepEqual(files(), ["kubeconfig"]);
  });

  it("is written after `up` unless the caller disables it, and the timeline page is private too", () => {
    const outputs = { kubeconfig: { value: "secret", secret: true } };
    const row = { name: "vm", type: "t", operation: "create", startedAt: 0, endedAt: 1 };
    const timeline = [{ ...row, critical: true }] as unknown as TimelineRow[];
    assert.deepEqual(writeKubeconfigAfterUp(stack(), { outputs }, { kubeconfigFile: false }), {});
    assert.ok(!existsSync(getKubeconfigPath(stack())));
    const kept = { kubeconfigPath: getKubeconfigPath(stack()) };
    assert.deepEqual(writeKubeconfigAfterUp(stack(), { outputs }, {}), kept);
    const page = getTimelinePath(stack());
    assert.deepEqual(writeTimeline(stack(), timeline), { timelinePath: page });
    assert.match(readFileSync(page, "utf8"), /up of dev/);
    assert.equal(mode(page), 0o600);
  });

  it("is deleted together with the timeline page, and may be missing", () => {
    write("secret");
    writeFileSync(getTimelinePath(stack()), "page");
    for (let time = 0; time < 2; time += 1) {
      removeClusterFiles(stack());
      assert.deepEqual(files(), []);
    }
  });
});
