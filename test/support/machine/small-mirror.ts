import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  renderPackages,
  renderRelease,
  type IndexedFile,
} from "../../../packages/lab/kubernetes/apt/apt-index.js";
import { computeDigest } from "../../../packages/lab/kubernetes/digest.js";
import type { MirrorSettings } from "../../../packages/lab/kubernetes/mirror/mirror-settings.js";
import {
  ensureSigningKey,
  type SigningKey,
} from "../../../packages/lab/kubernetes/apt/signing-key.js";

const media = {
  index: "application/vnd.docker.distribution.manifest.list.v2+json",
  manifest: "application/vnd.docker.distribution.manifest.v2+json",
  config: "application/vnd.docker.container.image.v1+json",
  layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
} as const;

interface Answer {
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Small upstream on the loopback interface: a read-only registry (API version 2) with images for
 * two architectures, and a signed apt repository.
 */
export class SmallMirror {
  /** Requests in order. */
  readonly requests: string[] = [];
  readonly #answers = new Map<string, Answer>();
  readonly #debs: { readonly control: string; readonly file: IndexedFile }[] = [];
  readonly #server: Server;

  private constructor(
    private readonly folder: string,
    readonly key: SigningKey,
  ) {
    this.#answers.set("/v2/", { type: "application/json", body: Buffer.from("{}") });
    this.#server = createServer(({ url = "" }, response) => {
      this.requests.push(url);
      const answer = this.#answers.get(new URL(url, "http://here").pathname);
      response.writeHead(answer ? 200 : 404, {
        "docker-distribution-api-version": "registry/2.0",
        ...(answer && {
          "content-type": answer.type,
          "content-length": answer.body.length,
          "docker-content-digest": `sha256:${computeDigest(answer.body)}`,
        }),
      });
      response.end(answer?.body);
    });
  }

  /** Starts a mirror that stores its files in `folder`. */
  static async open(folder: string): Promise<SmallMirror> {
    const mirror = new SmallMirror(folder, await ensureSigningKey(join(folder, "key")));
    await new Promise<void>((resolve) => mirror.#server.listen(0, "127.0.0.1", resolve));
    return mirror;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get settings(): MirrorSettings {
    return { url: `http://${this.host}/v{minor}/deb/`, keyFingerprint: this.key.fingerprint };
  }

  /** Returns a registries.conf that redirects these registries to this mirror. */
  registriesConf(hosts: readonly string[]): string {
    const entries = hosts.map(
      (host) => `[[registry]]\nprefix = "${host}"\nlocation = "${this.host}"\ninsecure = true\n`,
    );
    return entries.join("");
  }

  /**
   * Adds the image `name:tag`, which has one small layer. Returns the image's manifest for amd64.
   */
  addImage(name: string, tag: string): string {
    const layer = gzipSync(tarOf(join(this.folder, "layer"), `${name}:${tag}\n`));
    const [manifest = "", other = ""] = ["amd64", "arm64"].map((architecture) => {
      const rootfs = { type: "layers", diff_ids: [`sha256:${computeDigest(layer)}`] };
      const config = JSON.stringify({ architecture, os: "linux", config: {}, rootfs });
      const parts = [this.#blob(name, media.config, config), this.#blob(name, media.layer, layer)];
      // Uses unusual white space. If a tool rewrites the manifest, its digest changes and the test
      // fails.
      const shape = { schemaVersion: 2, mediaType: media.manifest };
      return JSON.stringify({ ...shape, config: parts[0], layers: [parts[1]] }, null, 3);
    });
    const manifests = [other, manifest].map((text, index) => ({
      ...this.#manifest(name, `sha256:${computeDigest(text)}`, media.manifest, text),
      platform: { os: "linux", architecture: index === 0 ? "arm64" : "amd64" },
    }));
    const index = JSON.stringify({ schemaVersion: 2, mediaType: media.index, manifests });
    this.#manifest(name, `sha256:${computeDigest(index)}`, media.index, index);
    this.#manifest(name, tag, media.index, index);
    return manifest;
  }

  /** Replaces the answer of a path. Without a body, the path no longer exists. */
  answer(path: string, body?: string | Buffer): void {
    if (body === undefined) this.#answers.delete(path);
    else this.#answers.set(path, { type: "text/plain", body: Buffer.from(body) });
  }

  #blob(name: string, mediaType: string, content: string | Buffer) {
    const digest = `sha256:${computeDigest(content)}`;
    const body = Buffer.from(content);
    this.#answers.set(`/v2/${name}/blobs/${digest}`, { type: "application/octet-stream", body });
    return { mediaType, digest, size: body.length };
  }

  #manifest(name: string, reference: string, mediaType: string, text: string) {
    const body = Buffer.from(text);
    this.#answers.set(`/v2/${name}/manifests/${reference}`, { type: mediaType, body });
    return { mediaType, digest: `sha256:${computeDigest(text)}`, size: body.length };
  }

  /** Adds a package that contains a file `/usr/bin/<name>`. */
  addPackage(name: string, version: string): void {
    const root = join(this.folder, "root");
    const fields = [`Package: ${name}`, `Version: ${version}`, "Architecture: amd64"];
    const control = [...fields, "Maintainer: upstream <a@b.test>", "Description: small", ""];
    mkdirSync(join(root, "DEBIAN"), { recursive: true });
    mkdirSync(join(root, "usr/bin"), { recursive: true });
    writeFileSync(join(root, "DEBIAN/control"), control.join("\n"));
    writeFileSync(join(root, "usr/bin", name), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    const file = `${name}_${version}_amd64.deb`;
    const path = join(this.folder, file);
    execFileSync("dpkg-deb", ["--root-owner-group", "--build", root, path]);
    const body = readFileSync(path);
    this.#debs.push({
      control: control.join("\n"),
      file: { name: file, size: statSync(path).size, sha256: computeDigest(body) },
    });
    this.#answers.set(`/v1.36/deb/${file}`, { type: "application/octet-stream", body });
    rmSync(root, { recursive: true });
  }

  /** Writes and signs the index of the packages. */
  async publishPackages(): Promise<void> {
    const packages = renderPackages(this.#debs);
    const index = {
      name: "Packages",
      size: Buffer.byteLength(packages),
      sha256: computeDigest(packages),
    };
    const release = renderRelease({ description: "small", date: new Date(), files: [index] });
    const { inline } = await this.key.sign(release);
    this.answer("/v1.36/deb/Release", release);
    this.answer("/v1.36/deb/Packages", packages);
    this.answer("/v1.36/deb/InRelease", inline);
    this.answer("/v1.36/deb/Release.key", this.key.publicKey);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function tarOf(folder: string, content: string): Buffer {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "what"), content);
  return execFileSync("tar", ["-C", folder, "-cf", "-", "what"]);
}
