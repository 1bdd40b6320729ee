import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress, type Progress } from "../../../../../../base/progress.js";
import { mirrorPackages } from "../../../../kubernetes/mirror/mirror-packages.js";
import type { MirrorSettings } from "../../../../kubernetes/mirror/mirror-settings.js";
import { getKubernetesRelease } from "../../../../kubernetes/catalog/versions.js";
import { SmallMirror } from "../../../../../../test/support/machine/small-mirror.js";

const of = getKubernetesRelease("1.36.3");

describe("mirrorPackages", function () {
  this.timeout(60_000);
  let folder: string;
  let mirror: SmallMirror;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "stackadm-test-"));
    mirror = await SmallMirror.open(join(folder, "mirror"));
    for (const [name, version] of Object.entries(of.packageVersions))
      mirror.addPackage(name, version);
  });
  beforeEach(async () => {
    await mirror.publishPackages();
    mirror.requests.length = 0;
  });
  after(async () => {
    await mirror.close();
    rmSync(folder, { recursive: true });
  });

  let tries = 0;
  const take = async (settings: MirrorSettings = mirror.settings) => {
    const notes: string[] = [];
    const progress: Progress = { ...silentProgress, note: (text) => void notes.push(text) };
    const own = join(folder, `packages-${tries++}`);
    const taken = await mirrorPackages(of, { settings, cache: own, progress });
    const kept = existsSync(own) ? readdirSync(own) : [];
    return { taken: [...taken.keys()], notes, kept };
  };
  const refused = async (why: RegExp, settings?: MirrorSettings) => {
    const { taken, notes, kept } = await take(settings);
    assert.deepEqual(taken, []);
    assert.equal(notes.length, 1);
    assert.match(notes[0] ?? "", why);
    assert.ok(
      kept.every((name) => name.endsWith(".part")),
      kept.join(),
    );
  };

  it("mirrors the packages that upstream has in exactly these versions", async () => {
    const versions = { ...of.packageVersions, kubelet: "1.36.4-1.1", other: "1-1" };
    const other = { ...of, packageVersions: versions };
    const notes: string[] = [];
    const taken = await mirrorPackages(other, {
      settings: mirror.settings,
      cache: join(folder, "fewer"),
      progress: { ...silentProgress, note: (text) => void notes.push(text) },
    });
    const rest = "does not have kubelet, other in the lab's version; the lab builds its own.";
    assert.deepEqual(notes, [`${mirror.host} ${rest}`]);
    const expected = Object.keys(of.packageVersions).filter((name) => name !== "kubelet");
    assert.deepEqual([...taken.keys()].sort(), expected.sort());
  });

  it("requests again a repository that had no matching package", async () => {
    const cache = join(folder, "later");
    const later = { ...of, packageVersions: { kubelet: "1.36.4-1.1" } };
    const look = () =>
      mirrorPackages(later, { settings: mirror.settings, cache, progress: silentProgress });
    assert.deepEqual([...(await look()).keys()], []);
    mirror.addPackage("kubelet", "1.36.4-1.1");
    await mirror.publishPackages();
    assert.deepEqual([...(await look()).keys()], ["kubelet"]);
  });

  it("mirrors nothing if the repository is unreachable", async () => {
    const url = "http://127.0.0.1:9/v{minor}/deb/";
    await refused(
      /^Packages are not mirrored from 127\.0\.0\.1:9 \(.*Connection refused.*\); the lab builds/,
      {
        ...mirror.settings,
        url,
      },
    );
  });

  it("mirrors nothing if the repository does not show the pinned key", async () => {
    await refused(new RegExp(`does not hold the key ${"A".repeat(40)}`), {
      ...mirror.settings,
      keyFingerprint: "A".repeat(40),
    });
    assert.ok(!mirror.requests.some((path) => path.endsWith(".deb")));
  });

  it("mirrors nothing signed by another key, even if shown together with the pinned key", async () => {
    const other = await SmallMirror.open(join(folder, "other"));
    mirror.answer("/v1.36/deb/Release.key", mirror.key.publicKey + other.key.publicKey);
    const text = "Origin: other\nDate: Mon, 01 Jan 2024 00:00:00 UTC\n";
    mirror.answer("/v1.36/deb/InRelease", (await other.key.sign(text)).inline);
    await other.close();
    await refused(/is not signed/);
    assert.ok(!mirror.requests.some((path) => path.endsWith(".deb")));
  });

  it("mirrors nothing without a signature, even if the host's apt would", async () => {
    const careless = join(folder, "apt.conf");
    writeFileSync(
      careless,
      'Acquire::AllowInsecureRepositories "true";\nAPT::Get::AllowUnauthenticated "true";\n',
    );
    mirror.answer("/v1.36/deb/InRelease");
    process.env["APT_CONFIG"] = careless;
    try {
      await refused(/is not signed/);
    } finally {
      Reflect.deleteProperty(process.env, "APT_CONFIG");
    }
    assert.ok(!mirror.requests.some((path) => path.endsWith(".deb")));
  });

  it("mirrors nothing if one package differs from the signed digest", async () => {
    const path = "/v1.36/deb/kubectl_1.36.3-1.1_amd64.deb";
    const file = readFileSync(join(folder, "mirror/kubectl_1.36.3-1.1_amd64.deb"));
    mirror.answer(path, Buffer.from(file).reverse());
    await refused(/Hash Sum mismatch/);
  });
});
