import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { z } from "zod";
import type { BuiltComponent } from "../../../../kubernetes/compile/build-component.js";
import {
  getImageLabels,
  resolveDebianPath,
  renderImage,
} from "../../../../kubernetes/registry/oci.js";
import { getKubernetesRelease } from "../../../../kubernetes/catalog/versions.js";
import { nonEmpty } from "../../../../../../test/support/non-empty.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const of = getKubernetesRelease("1.36.3");
const built = new Map<string, BuiltComponent>(
  of.components.map((component) => [
    component.name,
    { component, directory: "/nowhere", key: "0", seconds: 0 },
  ]),
);
const imageNamed = (repository: string) => {
  const found = of.images.find((image) => image.repository === repository);
  assert.ok(found, repository);
  return found;
};
const layers = [
  { digest: "a".repeat(64), size: 10_240 },
  { digest: "b".repeat(64), size: 20_480 },
];

// Schemas of the used parts of the OCI image specification.
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const descriptor = z.strictObject({ mediaType: z.string(), digest, size: z.int().positive() });
const manifestSchema = z.strictObject({
  schemaVersion: z.literal(2),
  mediaType: z.literal("application/vnd.oci.image.manifest.v1+json"),
  config: descriptor,
  layers: z.array(descriptor),
});
const configSchema = z.strictObject({
  created: z.iso.datetime(),
  architecture: z.literal("amd64"),
  os: z.literal("linux"),
  config: z.strictObject({
    Env: z.array(z.string().includes("=")),
    Entrypoint: z.array(z.string()).optional(),
    Cmd: z.array(z.string()).optional(),
    User: z.string().optional(),
    WorkingDir: z.string(),
    Labels: z.record(z.string(), z.string()),
  }),
  rootfs: z.strictObject({ type: z.literal("layers"), diff_ids: z.array(digest) }),
  history: z.array(z.strictObject({ created: z.string(), created_by: z.string() })),
});

describe("OCI image", () => {
  const image = imageNamed("kube-proxy");
  const rendered = renderImage(image, layers, { name: "value" });
  const manifest = manifestSchema.parse(JSON.parse(rendered.manifest));
  const config = configSchema.parse(JSON.parse(rendered.config));

  it("names its configuration by digest and size", () => {
    assert.equal(manifest.config.digest, `sha256:${sha256(rendered.config)}`);
    assert.equal(manifest.config.size, Buffer.byteLength(rendered.config));
    assert.equal(rendered.configDigest, sha256(rendered.config));
  });

  it("has the digest of its manifest", () => {
    assert.equal(rendered.digest, sha256(rendered.manifest));
  });

  it("has uncompressed layers, whose digests are the diff IDs, lowest first", () => {
    const digests = layers.map((layer) => `sha256:${layer.digest}`);
    assert.deepEqual(
      manifest.layers.map((layer) => layer.digest),
      digests,
    );
    assert.deepEqual(config.rootfs.diff_ids, digests);
    for (const layer of manifest.layers) {
      assert.equal(layer.mediaType, "application/vnd.oci.image.layer.v1.tar");
    }
    assert.equal(config.history.length, layers.length);
  });

  it("has upstream's entry point", () => {
    assert.deepEqual(config.config.Entrypoint, ["kube-proxy"]);
    assert.equal(config.config.Cmd, undefined);
    const pause = renderImage(imageNamed("pause"), layers, {});
    const { config: run } = configSchema.parse(JSON.parse(pause.config));
    assert.deepEqual([run.Entrypoint, run.User], [["/pause"], "65535:65535"]);
  });

  it("is the same at any time", () => {
    assert.deepEqual(renderImage(image, layers, { name: "value" }), rendered);
  });

  it("changes its digest with each layer and label", () => {
    const other = [...layers.slice(0, 1), { digest: "c".repeat(64), size: 20_480 }];
    assert.notEqual(renderImage(image, other, { name: "value" }).digest, rendered.digest);
    assert.notEqual(renderImage(image, layers, { name: "other" }).digest, rendered.digest);
  });

  it("is valid for every image and every label", () => {
    fc.assert(
      fc.property(fc.constantFrom(...of.images), fc.string(), (any, label) => {
        const { manifest: text, config: inner } = renderImage(any, layers, { label });
        manifestSchema.parse(JSON.parse(text));
        assert.equal(configSchema.parse(JSON.parse(inner)).config.Labels["label"], label);
      }),
    );
  });
});

describe("image labels", () => {
  it("name the replaced image and the modules of its programs", () => {
    const labels = getImageLabels(imageNamed("etcd"), built);
    assert.equal(labels["org.opencontainers.image.title"], "registry.k8s.io/etcd:3.6.8-0");
    assert.equal(
      labels["stackadm.lab/made-from"],
      [
        "go.etcd.io/etcd/server/v3@v3.6.8",
        "go.etcd.io/etcd/etcdctl/v3@v3.6.8",
        "go.etcd.io/etcd/etcdutl/v3@v3.6.8",
      ].join(", "),
    );
    assert.equal(labels["stackadm.lab/differs"], "on the modules of Kubernetes v1.36.3");
  });

  it("contain no differences if the image is built like upstream's", () => {
    const labels = getImageLabels(imageNamed("kube-apiserver"), built);
    assert.equal(labels["stackadm.lab/differs"], undefined);
  });

  it("mark the lab's own programs", () => {
    const labels = getImageLabels(imageNamed("sig-storage/livenessprobe"), built);
    assert.match(labels["stackadm.lab/made-from"] ?? "", /the lab's own program/);
    assert.match(labels["stackadm.lab/differs"] ?? "", /not published as a Go module/);
  });

  it("join the differences of programs and image", () => {
    const labels = getImageLabels(imageNamed("cloudnativelabs/kube-router"), built);
    assert.match(
      labels["stackadm.lab/differs"] ?? "",
      /^on the modules of Kubernetes v1\.36\.3; Debian instead of Alpine/,
    );
  });

  it("state that the image is not upstream's", () => {
    for (const image of nonEmpty(of.images)) {
      const labels = getImageLabels(image, built);
      assert.equal(labels["org.opencontainers.image.vendor"], "stackadm lab");
      assert.match(labels["org.opencontainers.image.description"] ?? "", /not upstream's own/);
    }
  });
});

describe("resolveDebianPath", () => {
  it("follows the links of a merged /usr", () => {
    assert.equal(resolveDebianPath("/bin/cinder-csi-plugin"), "/usr/bin/cinder-csi-plugin");
    assert.equal(resolveDebianPath("/sbin/x"), "/usr/sbin/x");
    assert.equal(resolveDebianPath("/lib/x"), "/usr/lib/x");
  });

  it("keeps other paths", () => {
    for (const path of ["/usr/local/bin/kube-proxy", "/opt/bin/flanneld", "/agnhost", "/binary"]) {
      assert.equal(resolveDebianPath(path), path);
    }
  });
});
