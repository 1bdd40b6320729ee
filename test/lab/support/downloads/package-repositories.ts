import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  defaultKubernetesVersion,
  getMinorVersion,
} from "../../../../base/versions/pinned-versions.js";
import { renderRelease } from "../../../../packages/lab/kubernetes/apt/apt-index.js";
import { computeDigest } from "../../../../packages/lab/kubernetes/digest.js";
import {
  ensureSigningKey,
  type SigningKey,
} from "../../../../packages/lab/kubernetes/apt/signing-key.js";
import { forward, listen, type TestServer } from "./downloads.js";

/**
 * Two apt repositories with the packages of the lab's repository. They simulate the two upstream
 * sites.
 */
export interface PackageRepositories extends TestServer {
  /** Value of `kubernetes.packages` for these repositories. */
  readonly packages: {
    readonly url: string;
    readonly keyFingerprint: string;
    readonly containerd: {
      readonly source: string;
      readonly key: string;
      readonly keyFingerprint: string;
    };
  };
  /** Version of containerd.io. */
  readonly version: string;
}

/**
 * Package of the first repository that the second repository offers in a higher version. apt would
 * prefer this version.
 */
export const bait = { package: "cri-tools", version: "9:99" };

const nameOf = (entry: string): string => /^Package: (.*)$/m.exec(entry)?.[1] ?? "";

/** Returns the files of the signed index of a flat repository, by file name. */
async function index(entries: readonly string[], key: SigningKey) {
  const packages = `${entries.join("\n\n")}\n`;
  const file = {
    name: "Packages",
    size: Buffer.byteLength(packages),
    sha256: computeDigest(packages),
  };
  const { inline } = await key.sign(
    renderRelease({ description: "test", date: new Date(), files: [file] }),
  );
  return { Packages: packages, InRelease: inline };
}

/**
 * Starts two apt repositories. The first contains all packages except containerd.io. The second
 * contains containerd.io, the package `bait`, and a file with two keys, of which only one signs.
 * The packages are forwarded from the lab's repository, whose address is `behind`.
 */
export async function startPackages(host: string, behind: string): Promise<PackageRepositories> {
  const theirs = `http://${behind}/v${getMinorVersion(defaultKubernetesVersion)}/deb/`;
  const dockers = `http://${behind}/linux/debian/`;
  const listed = async (address: string): Promise<string[]> =>
    (await (await fetch(address)).text()).trim().split(/\n{2,}/);
  const rest = await listed(`${theirs}Packages`);
  const suite = "dists/bookworm/stable/binary-amd64/Packages";
  const [containerd = ""] = await listed(`${dockers}${suite}`);
  const pool = /^Filename: (.*\/)/m.exec(containerd)?.[1] ?? "";
  const better = (rest.find((entry) => nameOf(entry) === bait.package) ?? "").replace(
    /^Version: .*$/m,
    `Version: ${bait.version}`,
  );
  const folder = mkdtempSync(join(tmpdir(), "stackadm-packages-"));
  const [first, second] = [
    await ensureSigningKey(join(folder, "first")),
    await ensureSigningKey(join(folder, "second")),
  ];
  rmSync(folder, { recursive: true });
  const files = new Map<string, string>();
  const offer = (path: string, texts: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(texts)) files.set(path + name, text);
  };
  offer(new URL(theirs).pathname, {
    ...(await index(rest, first)),
    "Release.key": first.publicKey,
  });
  const flat = containerd.replace(`Filename: ${pool}`, "Filename: ");
  offer("/debian/bookworm/", await index([flat, better], second));
  offer("/debian/", { "keys.asc": first.publicKey + second.publicKey });
  const behindOf = (file: string): URL =>
    new URL(file, file.startsWith("containerd") ? `${dockers}${pool}` : theirs);
  const asked: TestServer["asked"] = [];
  const server = createServer((from, answer) => {
    const { pathname } = new URL(from.url ?? "", theirs);
    asked.push({ target: pathname, signedIn: "" });
    const text = files.get(pathname);
    if (text !== undefined) answer.end(text);
    else if (pathname.endsWith(".deb"))
      forward(from, behindOf(pathname.replace(/^.*\//, "")), answer);
    else answer.writeHead(404).end();
  });
  const repositories = await listen(server, host, asked);
  const site = `http://${host}:${String(repositories.port)}`;
  return {
    ...repositories,
    version: /^Version: (.*)$/m.exec(containerd)?.[1] ?? "",
    packages: {
      url: `${site}/v{minor}/deb/`,
      keyFingerprint: first.fingerprint,
      containerd: {
        source: `${site}/{distribution}/{codename} /`,
        key: `${site}/{distribution}/keys.asc`,
        keyFingerprint: second.fingerprint,
      },
    },
  };
}
