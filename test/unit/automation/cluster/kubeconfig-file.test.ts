import assert from "node:assert/strict";
import {
  chmodSync,
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
import {
  kubeconfigPath,
  removeKubeconfig,
  writeKubeconfig,
} from "../../../../automation/cluster/kubeconfig-file.js";

describe("the file with the administrator's kubeconfig", () => {
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
  const files = (): string[] => readdirSync(dirname(kubeconfigPath("dev")));

  it("is its owner's alone, and so is the directory that is made for it", () => {
    const path = writeKubeconfig("dev", "secret");
    assert.equal(path, kubeconfigPath("dev"));
    assert.equal(readFileSync(path, "utf8"), "secret");
    assert.deepEqual([mode(path), mode(dirname(path))], [0o600, 0o700]);
  });

  it("is its owner's alone whatever was there before", () => {
    const path = writeKubeconfig("dev", "old");
    chmodSync(path, 0o644);
    writeKubeconfig("dev", "new");
    assert.deepEqual([readFileSync(path, "utf8"), mode(path)], ["new", 0o600]);
  });

  it("is one for each stack", () => {
    writeKubeconfig("dev", "of dev");
    writeKubeconfig("prod", "of prod");
    assert.equal(readFileSync(kubeconfigPath("dev"), "utf8"), "of dev");
    assert.deepEqual(files().sort(), ["kubeconfig-dev", "kubeconfig-prod"]);
  });

  it("is replaced as a whole: nobody reads half of it", () => {
    const path = writeKubeconfig("dev", "old");
    const inode = statSync(path).ino;
    writeKubeconfig("dev", "new");
    assert.notEqual(statSync(path).ino, inode);
    assert.deepEqual(files(), ["kubeconfig-dev"]);
  });

  it("leaves no second copy of the secret when it cannot be put in its place", () => {
    mkdirSync(kubeconfigPath("dev"), { recursive: true });
    writeFileSync(join(kubeconfigPath("dev"), "x"), "");
    assert.throws(() => writeKubeconfig("dev", "secret"));
    assert.deepEqual(files(), ["kubeconfig-dev"]);
  });

  it("is removed without a complaint when there is none", () => {
    writeKubeconfig("dev", "secret");
    assert.equal(removeKubeconfig("dev"), true);
    assert.equal(removeKubeconfig("dev"), false);
    assert.deepEqual(files(), []);
  });
});
