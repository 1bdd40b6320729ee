/** Go module whose main packages are built. */
export interface ModuleSource {
  readonly kind: "module";
  readonly module: string;
  /** Version of the module, if it differs from the version of the component. */
  readonly moduleVersion?: string;
  /**
   * `replace` directives in addition to those of the module. A map from a path to `path version`.
   */
  readonly replace?: Readonly<Record<string, string>>;
  readonly sharedWith?: SharedWith;
}

/**
 * Kubernetes version, such as 1.36.3. The component uses the module versions of this Kubernetes, so
 * that Go compiles shared packages only once. @default the component's own versions
 */
type SharedWith = string;

/**
 * Go program of the lab in `programs/<directory>`, with the published modules that it requires
 * (`path version`).
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
 * Component that is built separately. The cache identifies a component by its name, its version and
 * a digest of this description.
 */
export interface Component {
  readonly name: string;
  /** Version of the upstream project, with its `v` if it has one. */
  readonly version: string;
  readonly source: ModuleSource | ProgramSource | CSource;
  /** Programs: executable -> main package (empty for C). */
  readonly programs: Readonly<Record<string, string>>;
  /** Copies next to the executables. A map from a name to a file or folder of the module. */
  readonly copies?: Readonly<Record<string, string>>;
  /** Build tags in addition to those of all components. */
  readonly tags?: readonly string[];
  /** Variables that the linker sets with `-X`: variable -> value. */
  readonly link?: Readonly<Record<string, string>>;
  /**
   * Whether the build needs a C compiler. The executables are linked statically nevertheless.
   * @default false
   */
  readonly cgo?: boolean;
  /**
   * Approximate duration in seconds on 2 idle cores with empty caches. The progress display shows
   * this number next to the elapsed time.
   */
  readonly expectedSeconds: number;
  /** Difference from the program that upstream publishes under this name and version. */
  readonly deviation?: string;
}

/**
 * Layers below an image's own layer. `empty`: only folders, users and CA certificates. `debian`: a
 * small Debian with a shell, iptables, mount, mkfs (one layer, shared by all such images).
 */
export type ImageBase = "empty" | "debian";

/** Image of the registry. */
export interface RegistryImage {
  /** Path in the registry: upstream's name without the host of the registry. */
  readonly repository: string;
  /** Further paths of the same image. */
  readonly aliases?: readonly string[];
  readonly tags: readonly string[];
  /** Upstream's name with the tag that manifests use. */
  readonly upstream: string;
  readonly base: ImageBase;
  /**
   * Debian packages in addition to the shared packages. The image then has a separate Debian layer.
   */
  readonly packages?: readonly string[];
  /** Files: path in the image -> `component/program`. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * Folders. A map from a path in the image to `component/copy`. All files in these folders are
   * executable.
   */
  readonly folders?: Readonly<Record<string, string>>;
  /** Links. A map from a path in the image to the target of the symbolic link. */
  readonly links?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** Numeric user and group. @default root */
  readonly user?: string;
  readonly deviation?: string;
}

/**
 * Components and images that are built for one Kubernetes version, in the order of their first use.
 */
export interface KubernetesRelease {
  /** Version without `v`, such as 1.36.3. */
  readonly version: string;
  readonly minor: string;
  readonly components: readonly Component[];
  readonly images: readonly RegistryImage[];
  /** Versions of all deb packages. deb-package-table.ts lists their content. */
  readonly packageVersions: Readonly<Record<string, string>>;
}

/** Returns the difference from upstream's published version, if there is one. */
export function describeDeviation({ source, deviation }: Component): string | undefined {
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
export function describeSource(component: Component): string {
  const { source, version } = component;
  return source.kind === "program"
    ? `the lab's own program lab/kubernetes/programs/${source.directory}`
    : `${source.module}@${source.moduleVersion ?? version}`;
}
