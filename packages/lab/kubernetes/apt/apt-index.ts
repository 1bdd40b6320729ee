/** File that an apt index lists. */
export interface IndexedFile {
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  readonly sha256: string;
}

/**
 * Renders the index Packages: the control file of every package with the path, size and digest of
 * the package's file.
 */
export function renderPackages(
  entries: readonly { readonly control: string; readonly file: IndexedFile }[],
): string {
  return entries
    .map(({ control, file }) => {
      const lines = control.trimEnd().split("\n");
      const description = lines.findIndex((line) => line.startsWith("Description:"));
      lines.splice(
        description,
        0,
        `Filename: ${file.name}`,
        `Size: ${file.size}`,
        `SHA256: ${file.sha256}`,
      );
      return lines.join("\n") + "\n";
    })
    .join("\n");
}

/** Fields of a repository's Release file. */
export interface ReleaseFacts {
  readonly description: string;
  readonly date: Date;
  /** Indexes of the repository. */
  readonly files: readonly IndexedFile[];
  /** Codename and components of a repository with suites. @default a flat repository */
  readonly suite?: { readonly codename: string; readonly components: readonly string[] };
}

/** Renders the Release file of a repository with one architecture. */
export function renderRelease({ description, date, files, suite }: ReleaseFacts): string {
  return [
    "Origin: stackadm lab",
    `Label: stackadm lab: ${description}`,
    ...(suite ? [`Suite: ${suite.codename}`, `Codename: ${suite.codename}`] : ["Archive: deb"]),
    ...(suite ? [`Components: ${suite.components.join(" ")}`] : []),
    "Architectures: amd64",
    // Date in the format of RFC 2822 and in UTC, as apt requires.
    `Date: ${date.toUTCString().replace("GMT", "UTC")}`,
    `Description: ${description} for the lab`,
    "SHA256:",
    ...files.map((file) => ` ${file.sha256} ${file.size.toString().padStart(9)} ${file.name}`),
    "",
  ].join("\n");
}
