/** Go module from which main packages are built. */
export interface ModuleSource {
  readonly kind: "module";
  readonly module: string;
  /** Version of the module, if it is not the component's. */
  readonly moduleVersion?: string;
  /** Replacements in addition to the module's own: path -> `path version`. */
  readonly replace?: Readonly<Record<string, string>>;
  readonly sharedWith?: SharedWith;
}

/**
 * Version of Kubernetes, such as 1.36.3, whose module versions a component uses for all modules
 * that both need, so that packages shared by several components are compiled once. @default the
 * component's own versions
 */
type SharedWith = string;

/**
 * Go program of the lab in `programs/<directory>`, with the published modules that it needs (`path
 * version`).
 */
export interface ProgramSource {
  readonly kind: "program";
  readonly directory: string;
  readonly require: readonly string[];
  readonly sharedWith?: SharedWith;
}

/** Single C file in a Go module. */
export interface CSource {
  readonly kind: "c";
  readonly module: string;
  readonly moduleVersion: string;
  readonly file: string;
}

/**
 * Component that is built separately and kept in the cache by name, version and digest of this
 * description.
 */
export interface Component {
  readonly name: string;
  /** Version of the upstream project, with its `v` if it has one. */
  readonly version: string;
  readonly source: ModuleSource | ProgramSource | CSource;
  /** Programs: executable -> main package (empty for C). */
  readonly programs: Readonly<Record<string, string>>;
  /** Copies next to the executables: name -> file or folder of the module. */
  readonly copies?: Readonly<Record<string, string>>;
  /** Build tags in addition to those of all components. */
  readonly tags?: readonly string[];
  /** Variables linked in with `-X`: variable -> value. */
  readonly link?: Readonly<Record<string, string>>;
  /** Needs a C compiler; linked statically nevertheless. @default false */
  readonly cgo?: boolean;
  /** Approximate seconds on 2 idle cores with empty caches; only shown next to the elapsed time. */
  readonly expectedSeconds: number;
  /** Difference from what upstream publishes under this name and version. */
  readonly deviation?: string;
}

/**
 * Layers below an image's own layer. `empty`: only folders, users and CA certificates; `debian`: a
 * small Debian with a shell, iptables, mount, mkfs (one layer, shared by all such images).
 */
export type ImageBase = "empty" | "debian";

/** Image of the registry. */
export interface Image {
  /** Path in the registry: upstream's name without the registry host. */
  readonly repository: string;
  /** Further paths of the same image. */
  readonly aliases?: readonly string[];
  readonly tags: readonly string[];
  /** Upstream's name, with the tag that manifests use. */
  readonly upstream: string;
  readonly base: ImageBase;
  /** Debian packages in addition to the shared ones; the image then has a separate Debian layer. */
  readonly packages?: readonly string[];
  /** Files: path in the image -> `component/program`. */
  readonly files: Readonly<Record<string, string>>;
  /** Folders: path in the image -> `component/copy`; all files in them are executable. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Links: path in the image -> target of the symbolic link. */
  readonly links?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** Numeric user and group. @default root */
  readonly user?: string;
  readonly deviation?: string;
}

/**
 * Components and images that are built for one Kubernetes version, in the order in which they are
 * needed.
 */
export interface Release {
  /** Version without `v`, such as 1.36.3. */
  readonly version: string;
  readonly minor: string;
  readonly components: readonly Component[];
  readonly images: readonly Image[];
  /** Version of every deb package; deb-package-table.ts lists their content. */
  readonly packageVersions: Readonly<Record<string, string>>;
}

/** Returns the difference from what upstream publishes, if there is one. */
export function differs({ source, deviation }: Component): string | undefined {
  const shares =
    source.kind === "module" &&
    source.sharedWith !== undefined &&
    source.moduleVersion !== `v${source.sharedWith}`;
  const shared = shares ? `on the modules of Kubernetes v${source.sharedWith}` : undefined;
  return [deviation, shared].filter((text) => text !== undefined).join("; ") || undefined;
}

/**
 * Returns the source: `github.com/coredns/coredns@v1.14.2`, or the folder of the lab's own program.
 */
export function madeFrom(component: Component): string {
  const { source, version } = component;
  return source.kind === "program"
    ? `the lab's own program lab/kubernetes/programs/${source.directory}`
    : `${source.module}@${source.moduleVersion ?? version}`;
}
