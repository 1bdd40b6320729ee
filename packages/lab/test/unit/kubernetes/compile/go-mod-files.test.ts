import assert from "node:assert/strict";
import fc from "fast-check";
import type { Component, ModuleSource } from "../../../../kubernetes/catalog/component.js";
import {
  getExecutableName,
  getGoBuildArguments,
  listModuleVersions,
  getNewerVersion,
  renderModuleGoMod,
  renderProgramGoMod,
} from "../../../../kubernetes/compile/go-mod-files.js";

const source: ModuleSource = { kind: "module", module: "example.org/tool" };
const component: Component = {
  name: "tool",
  version: "v1.2.3",
  source,
  programs: { tool: "example.org/tool/cmd/tool" },
  expectedSeconds: 1,
};
const lines = (text: string) => text.split("\n").filter((line) => line !== "");

describe("renderModuleGoMod", () => {
  it("requires exactly the module's version", () => {
    assert.deepEqual(lines(renderModuleGoMod(component, source, { Go: "1.26.0" })), [
      "module stackadm.test/tool",
      "go 1.26.0",
      "require example.org/tool v1.2.3",
    ]);
  });

  it("repeats replacements by published modules", () => {
    const text = renderModuleGoMod(component, source, {
      Go: "1.26.0",
      Replace: [
        {
          Old: { Path: "k8s.io/kms" },
          New: { Path: "k8s.io/kms", Version: "v0.36.0" },
        },
        {
          Old: { Path: "a.org/b", Version: "v1.0.0" },
          New: { Path: "c.org/d", Version: "v2.0.0" },
        },
      ],
    });
    assert.ok(text.includes("replace k8s.io/kms => k8s.io/kms v0.36.0\n"));
    assert.ok(text.includes("replace a.org/b v1.0.0 => c.org/d v2.0.0\n"));
  });

  it("pins shared modules to one version by a requirement above all others and a replacement", () => {
    const shared = new Map([
      ["k8s.io/api", "v0.36.3"],
      ["google.golang.org/grpc", "v1.79.3"],
      ["github.com/blang/semver/v4", "v4.0.0"],
      ["gopkg.in/yaml.v3", "v3.0.1"],
      ["gopkg.in/inf.v0", "v0.9.1"],
      ["github.com/docker/docker", "v28.0.0+incompatible"],
    ]);
    const upstream = {
      Go: "1.26.0",
      Replace: [
        { Old: { Path: "k8s.io/api" }, New: { Path: "k8s.io/api", Version: "v0.30.0" } },
        {
          Old: { Path: "k8s.io/api", Version: "v0.1.0" },
          New: { Path: "a.org/api", Version: "v0.2.0" },
        },
      ],
    };
    assert.deepEqual(lines(renderModuleGoMod(component, source, upstream, shared)), [
      "module stackadm.test/tool",
      "go 1.26.0",
      "require example.org/tool v1.2.3",
      "require k8s.io/api v1.999.0",
      "require google.golang.org/grpc v1.999.0",
      "require github.com/blang/semver/v4 v4.999.0",
      "require gopkg.in/yaml.v3 v3.999.0",
      "require gopkg.in/inf.v0 v0.999.0",
      "require github.com/docker/docker v28.999.0+incompatible",
      "replace k8s.io/api => k8s.io/api v0.36.3",
      "replace google.golang.org/grpc => google.golang.org/grpc v1.79.3",
      "replace github.com/blang/semver/v4 => github.com/blang/semver/v4 v4.0.0",
      "replace gopkg.in/yaml.v3 => gopkg.in/yaml.v3 v3.0.1",
      "replace gopkg.in/inf.v0 => gopkg.in/inf.v0 v0.9.1",
      "replace github.com/docker/docker => github.com/docker/docker v28.0.0+incompatible",
    ]);
  });

  it("keeps the component's own replacement of a shared module", () => {
    const own = { ...source, replace: { "k8s.io/api": "k8s.io/api v0.35.0" } };
    const text = renderModuleGoMod(component, own, {}, new Map([["k8s.io/api", "v0.36.3"]]));
    assert.deepEqual(
      lines(text).filter((line) => line.includes("k8s.io/api")),
      ["replace k8s.io/api => k8s.io/api v0.35.0"],
    );
  });

  it("omits other local replacements, so that the required version is used", () => {
    const text = renderModuleGoMod(component, source, {
      Replace: [
        { Old: { Path: "go.etcd.io/etcd/api/v3" }, New: { Path: "../api" } },
        { Old: { Path: "k8s.io/api" }, New: { Path: "./staging/src/k8s.io/api" } },
        { Old: { Path: "go.etcd.io/etcd" }, New: { Path: "./FORBIDDEN_DEPENDENCY" } },
      ],
    });
    assert.ok(!text.includes("replace"));
  });

  it("prefers the component's own replacement to the module's", () => {
    const own: ModuleSource = {
      ...source,
      replace: { "github.com/vishvananda/netlink": "github.com/vishvananda/netlink v1.3.1" },
    };
    const text = renderModuleGoMod(component, own, {
      Replace: [
        {
          Old: { Path: "github.com/vishvananda/netlink" },
          New: { Path: "github.com/other/netlink", Version: "v0.1.0" },
        },
      ],
    });
    assert.deepEqual(
      lines(text).filter((line) => line.startsWith("replace")),
      ["replace github.com/vishvananda/netlink => github.com/vishvananda/netlink v1.3.1"],
    );
  });

  it("uses another version of the module if the component sets one", () => {
    const text = renderModuleGoMod(component, { ...source, moduleVersion: "v9.0.0" }, {});
    assert.ok(text.includes("require example.org/tool v9.0.0\n"));
  });

  it("requires at least the Go version that current replacements need", () => {
    assert.ok(renderModuleGoMod(component, source, { Go: "1.17" }).includes("\ngo 1.24.0\n"));
    assert.ok(renderModuleGoMod(component, source, {}).includes("\ngo 1.24.0\n"));
  });

  it("lists the requirements of a program of the lab", () => {
    assert.deepEqual(lines(renderProgramGoMod("probe", ["a.org/b v1.0.0", "c.org/d v2.0.0"])), [
      "module stackadm.test/probe",
      "go 1.26.0",
      "require a.org/b v1.0.0",
      "require c.org/d v2.0.0",
    ]);
  });
});

describe("listModuleVersions", () => {
  it("returns Kubernetes' requirements, and staging directories in their published version", () => {
    const kubernetes = {
      Require: [
        { Path: "google.golang.org/grpc", Version: "v1.79.3" },
        { Path: "k8s.io/api", Version: "v0.0.0" },
      ],
      Replace: ["k8s.io/api", "k8s.io/sample"].map((path) => ({
        Old: { Path: path },
        New: { Path: `./staging/src/${path}` },
      })),
    };
    assert.deepEqual(
      [...listModuleVersions(kubernetes, "1.36.3")],
      [
        ["google.golang.org/grpc", "v1.79.3"],
        ["k8s.io/api", "v0.36.3"],
      ],
    );
  });
});

describe("getNewerVersion", () => {
  it("compares number by number", () => {
    assert.equal(getNewerVersion("1.9.0", "1.26.0"), "1.26.0");
    assert.equal(getNewerVersion("1.26.8", "1.26.0"), "1.26.8");
    assert.equal(getNewerVersion("1.26", "1.26.0"), "1.26");
    assert.equal(getNewerVersion("1.26.1", "1.26"), "1.26.1");
  });

  it("returns the same version in any order", () => {
    const version = fc.array(fc.nat(40), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const [one, other] = [a.join("."), b.join(".")];
        assert.equal(getNewerVersion(one, other), getNewerVersion(other, one));
      }),
    );
  });
});

describe("getGoBuildArguments", () => {
  it("names executables after the last element of the package", () => {
    assert.equal(getExecutableName("k8s.io/kubernetes/cmd/kubeadm"), "kubeadm");
  });

  it("strips symbols, trims paths and uses two processes", () => {
    const text = getGoBuildArguments(component, "/out").join(" ");
    assert.equal(
      text,
      "build -p 2 -v -trimpath -ldflags -s -w -gcflags all=-dwarf=false -tags selinux,notest,grpcnotrace -o /out/tool example.org/tool/cmd/tool",
    );
  });

  it("passes linked values and tags", () => {
    const args = getGoBuildArguments(
      { ...component, tags: ["one", "two"], link: { "main.version": "v1" } },
      "/out",
    );
    assert.equal(args[args.indexOf("-ldflags") + 1], "-s -w -X main.version=v1");
    assert.equal(args[args.indexOf("-tags") + 1], "selinux,notest,grpcnotrace,one,two");
  });

  it("links C statically", () => {
    const args = getGoBuildArguments({ ...component, cgo: true }, "/out");
    assert.equal(args[args.indexOf("-ldflags") + 1], "-s -w -extldflags=-static");
  });

  it("builds several programs in one run, into the directory", () => {
    const args = getGoBuildArguments(
      { ...component, programs: { a: "example.org/cmd/a", b: "example.org/cmd/b" } },
      "/out",
    );
    assert.deepEqual(args.slice(-4), ["-o", "/out/", "example.org/cmd/a", "example.org/cmd/b"]);
  });
});
