import assert from "node:assert/strict";
import { getPodmanRunArguments } from "../../../host/container.js";
import { getMmdebstrapArguments, parseProgressLine } from "../../../host/debian-tree.js";
import { serverImagePackages } from "../../../image/image.js";
import { debPackages } from "../../../kubernetes/catalog/deb-package-table.js";
import { cloudPackages } from "../../../cloud-debian-packages.js";
import { readLabSettings } from "../../../settings.js";

const settings = readLabSettings({});

describe("podman arguments", () => {
  const words = getPodmanRunArguments({
    settings,
    root: "/store/running",
    mounts: { "/here": "/there" },
  });
  const after = (option: string): string | undefined => words[words.indexOf(option) + 1];

  it("name the runtime instead of using the host's configuration", () => {
    assert.deepEqual(words.slice(0, 3), ["--runtime", "runc", "run"]);
  });

  it("use the lab's own network namespace", () => {
    assert.equal(after("--network"), "ns:/run/netns/stackadm-lab");
  });

  it("remove podman's process limit, which would apply to the whole cloud", () => {
    assert.equal(after("--pids-limit"), "-1");
  });

  it("mount directories of the host read-only", () => {
    assert.equal(after("--volume"), "/here:/there:ro");
  });

  it("boot a system from the directory, as the last arguments", () => {
    assert.deepEqual(words.slice(-3), ["--rootfs", "/store/running", "/sbin/init"]);
  });

  it("name the container, so that it is recognisable on a shared host", () => {
    assert.equal(after("--name"), settings.name);
    assert.equal(after("--label"), "stackadm=lab");
  });
});

describe("mmdebstrap arguments", () => {
  const tree = { folder: "/tree", packages: ["a", "b"] };
  const words = getMmdebstrapArguments(tree, ["deb m s c"], { options: "/o" });

  it("end with suite, directory and mirrors", () => {
    assert.deepEqual(words.slice(-3), ["bookworm", "/tree", "deb m s c"]);
  });

  it("pass packages and the host's mirror access", () => {
    assert.ok(words.includes("--include=a,b"));
    assert.ok(words.includes("--aptopt=/o"));
  });

  it("report the lines of progress only", () => {
    assert.equal(
      parseProgressLine("Get:12 http://m/debian bookworm/main amd64 nova-common all 1.2 [3 kB]"),
      "download nova-common all 1.2 [3 kB]",
    );
    assert.equal(
      parseProgressLine("Setting up nova-common (2:26.2) ..."),
      "Setting up nova-common (2:26.2) ...",
    );
    assert.equal(parseProgressLine("I: extracting archives..."), "I: extracting archives...");
    assert.equal(parseProgressLine("(Reading database ... 5%"), undefined);
    assert.equal(parseProgressLine(""), undefined);
  });

  it("report one line at a time", () => {
    assert.ok((parseProgressLine(`Unpacking ${"x".repeat(300)}`) ?? "").length <= 100);
  });
});

describe("package lists", () => {
  for (const [name, list] of Object.entries({
    cloudPackages,
    imagePackages: serverImagePackages,
  })) {
    it(`contain no duplicates and only Debian package names: ${name}`, () => {
      assert.deepEqual(list, [...new Set(list)]);
      for (const word of list) assert.match(word, /^[a-z0-9][a-z0-9+.-]+$/);
    });
  }

  it("keep hypervisors and storage daemons out of the cloud", () => {
    for (const word of ["nova-compute", "cinder-volume", "cinder-api", "octavia-api"]) {
      assert.ok(!cloudPackages.includes(word), word);
    }
  });

  it("contain in the image the dependencies of packages that machines install", () => {
    const own = debPackages.map(({ name }) => name);
    const outside = debPackages
      .flatMap(({ depends }) => depends.map((one) => one.split(" ")[0] ?? ""))
      .filter((name) => !own.includes(name));
    assert.ok(outside.includes("conntrack"));
    // Every Debian root has these packages, which are essential or required.
    const always = ["util-linux", "mount"];
    const missing = outside.filter((name) => ![...serverImagePackages, ...always].includes(name));
    assert.deepEqual(missing, []);
  });
});
