import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../../../../../base/failures/failure.js";
import {
  listCgroupFolders,
  getCgroupParent,
  removeCgroups,
  listCpuWeightFiles,
} from "../../../host/cgroups.js";

describe("lab cgroups", () => {
  it("have their own parent group if systemd does not manage the tree", () => {
    assert.equal(getCgroupParent("stackadm-lab", false), "stackadm-lab");
  });

  it("have no parent group if systemd manages the tree", () => {
    assert.equal(getCgroupParent("stackadm-lab", true), undefined);
  });

  it("get CPU weights in the units of both versions: 1024 and 100 per program", () => {
    assert.deepEqual(listCpuWeightFiles("lab", 1), [
      ["/sys/fs/cgroup/cpu/lab/cpu.shares", "1024"],
      ["/sys/fs/cgroup/lab/cpu.weight", "100"],
    ]);
    assert.deepEqual(
      listCpuWeightFiles("lab", 8).map(([, value]) => value),
      ["8192", "800"],
    );
  });

  it("are not found if they do not exist", async () => {
    assert.deepEqual(await listCgroupFolders("stackadm-no-such-group"), []);
  });
});

describe("removeCgroups", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "stackadm-cgroup-"));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });
  /** Creates a cgroup that contains processes. */
  const group = (path: string, ...processes: number[]): string => {
    const folder = join(root, path);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "cgroup.procs"), processes.map((id) => `${id}\n`).join(""));
    return folder;
  };
  const end = (folder: string): void => {
    writeFileSync(join(folder, "cgroup.procs"), "");
  };
  /** Removes a control group like the kernel, only if it contains neither processes nor groups. */
  const remove = (folder: string): Promise<void> => {
    const inUse =
      readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isDirectory()) ||
      readFileSync(join(folder, "cgroup.procs"), "utf8") !== "";
    if (inUse) {
      const error = new Error(`EBUSY: resource busy or locked, rmdir '${folder}'`);
      return Promise.reject(Object.assign(error, { code: "EBUSY" }));
    }
    rmSync(folder, { recursive: true });
    return Promise.resolve();
  };

  it("removes nested groups first, in every hierarchy", async () => {
    for (const path of ["cpu/lab/conmon", "cpu/lab", "blkio/lab/libpod/init", "blkio/lab/libpod"])
      group(path);
    group("blkio/lab");
    const other = group("blkio/other");
    await removeCgroups("lab", { root, remove });
    assert.deepEqual(await listCgroupFolders("lab", root), []);
    assert.ok(existsSync(other));
  });

  it("waits for the container's monitor, which ends after the container", async () => {
    group("blkio/lab");
    const monitor = group("blkio/lab/conmon", 4711);
    let attempts = 0;
    await removeCgroups("lab", {
      root,
      remove: (folder) => {
        if (++attempts === 2) end(monitor);
        return remove(folder);
      },
    });
    assert.deepEqual(await listCgroupFolders("lab", root), []);
  });

  it("removes groups that appear meanwhile, and tolerates vanished ones", async () => {
    const lab = group("blkio/lab");
    const twice = group("cpu/lab");
    let attempts = 0;
    await removeCgroups("lab", {
      root,
      remove: (folder) => {
        if (++attempts === 1) {
          group("blkio/lab/conmon/libpod");
          group("blkio/lab/conmon");
          rmSync(twice, { recursive: true });
        }
        return remove(folder);
      },
    });
    assert.ok(!existsSync(lab));
    assert.deepEqual(await listCgroupFolders("lab", root), []);
  });

  it("reports the group and its remaining processes", async () => {
    group("blkio/lab");
    group("blkio/lab/conmon", process.pid);
    const name = readFileSync("/proc/self/comm", "utf8").trim();
    const error = await removeCgroups("lab", { root, remove, boundMs: 300 }).catch(
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Failure);
    assert.equal(
      error.message,
      `The control group ${root}/blkio/lab is still there after 0.3 s: ${name} (process ${process.pid}) in it.`,
    );
    assert.match(error.hint, /'stackadm-lab down'/);
  });
});
