/** A file as an apt index names it. */
export interface IndexedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

/** Packages of a flat repository: the control file of every package with where and what its file is. */
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
        `Filename: ./${file.name}`,
        `Size: ${file.size}`,
        `SHA256: ${file.sha256}`,
      );
      return lines.join("\n") + "\n";
    })
    .join("\n");
}

/** Release of a flat repository with one architecture; `date` becomes RFC 2822 in UTC as apt wants it. */
export function renderRelease(minor: string, date: Date, files: readonly IndexedFile[]): string {
  return [
    "Origin: stackadm lab",
    `Label: stackadm lab: Kubernetes v${minor}`,
    "Archive: deb",
    "Architectures: amd64",
    `Date: ${date.toUTCString().replace("GMT", "UTC")}`,
    `Description: Kubernetes v${minor} for the lab`,
    "SHA256:",
    ...files.map((file) => ` ${file.sha256} ${file.size.toString().padStart(9)} ${file.name}`),
    "",
  ].join("\n");
}
