/** A Go module from which main packages are built. */
export interface ModuleSource {
  readonly kind: "module";
  readonly module: string;
  /** Version of the module where it is not the component's. */
  readonly moduleVersion?: string;
  /** Replacements that the module itself does not ask for: path -> `path version`. */
  readonly replace?: Readonly<Record<string, string>>;
  readonly sharedWith?: SharedWith;
}

/**
 * The Kubernetes whose versions a component takes of every module that both stand on, such as 1.36.3: what several components stand
 * on is compiled once. Default: its own versions.
 */
type SharedWith = string;

/** A Go program of the lab's own in `programs/<directory>`, over published modules (`path version`). */
export interface ProgramSource {
  readonly kind: "program";
  readonly directory: string;
  readonly require: readonly string[];
  readonly sharedWith?: SharedWith;
}

/** One C file that lies in a Go module. */
export interface CSource {
  readonly kind: "c";
  readonly module: string;
  readonly moduleVersion: string;
  readonly file: string;
}

/** One piece that is built on its own and kept in the cache by name, version and content of this description. */
export interface Component {
  readonly name: string;
  /** Of the upstream project, with its `v` where it has one. */
  readonly version: string;
  readonly source: ModuleSource | ProgramSource | CSource;
  /** Executable -> main package (empty for C). */
  readonly programs: Readonly<Record<string, string>>;
  /** Beside the executables: name -> file or folder of the module. */
  readonly copies?: Readonly<Record<string, string>>;
  /** Beside those that all are built with. */
  readonly tags?: readonly string[];
  /** Linked in with `-X`: variable -> value. */
  readonly link?: Readonly<Record<string, string>>;
  /** Needs a C compiler; linked statically all the same. Default: false. */
  readonly cgo?: boolean;
  /** About how long it takes on 2 quiet cores with empty caches; only shown beside the elapsed time. */
  readonly expectedSeconds: number;
  /** In what it is not what upstream publishes under this name and version. */
  readonly deviation?: string;
}

/**
 * What lies under an image's own layer. `empty`: nothing but folders, users and CA certificates;
 * `debian`: a small Debian with a shell, iptables, mount, mkfs (one layer, shared by all such images).
 */
export type ImageBase = "empty" | "debian";

/** One image of the registry. */
export interface Image {
  /** Path in the registry: upstream's without its registry host. */
  readonly repository: string;
  /** Further paths under which the same image is found. */
  readonly aliases?: readonly string[];
  readonly tags: readonly string[];
  /** The name upstream publishes it under, with the tag that manifests use. */
  readonly upstream: string;
  readonly base: ImageBase;
  /** What its Debian has beside what all others have: a layer of its own. */
  readonly packages?: readonly string[];
  /** Path in the image -> `component/program`. */
  readonly files: Readonly<Record<string, string>>;
  /** Path in the image -> `component/copy`, all of it executable. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Path in the image -> target of a symbolic link. */
  readonly links?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** Numeric user and group. Default: root. */
  readonly user?: string;
  readonly deviation?: string;
}

/** Everything that is built for one Kubernetes version, in the order in which it is needed. */
export interface Release {
  /** Without `v`, such as 1.36.3. */
  readonly version: string;
  readonly minor: string;
  readonly components: readonly Component[];
  readonly images: readonly Image[];
  /** Version of every deb package; packages.ts says what is in them. */
  readonly packageVersions: Readonly<Record<string, string>>;
}

/** In what it is not what upstream publishes, if in anything. */
export function differs({ source, deviation }: Component): string | undefined {
  const shares =
    source.kind === "module" &&
    source.sharedWith !== undefined &&
    source.moduleVersion !== `v${source.sharedWith}`;
  const shared = shares ? `on the modules of Kubernetes v${source.sharedWith}` : undefined;
  return [deviation, shared].filter((text) => text !== undefined).join("; ") || undefined;
}

/** `github.com/coredns/coredns@v1.14.2`, or a word for the lab's own. */
export function madeFrom(component: Component): string {
  const { source, version } = component;
  return source.kind === "program"
    ? `the lab's own program lab/kubernetes/programs/${source.directory}`
    : `${source.module}@${source.moduleVersion ?? version}`;
}
