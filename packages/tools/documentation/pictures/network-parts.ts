/** Part of a network picture: its text, and the names of the resources that it stands for. */
export interface Part {
  readonly lines: readonly string[];
  readonly shows: readonly string[];
  /** Whether the program does not create the part. */
  readonly foreign?: boolean;
}

export interface PicturedMachine {
  /** Name without the prefix of the cluster. */
  readonly name: string;
  readonly zone: string;
  /** Names of the server's and of the ports' resources. */
  readonly shows: readonly string[];
}

/** Machines with the same role and settings. */
export interface PicturedGroup {
  readonly key: string;
  readonly title: string;
  /** Names of the security groups' resources. */
  readonly securityGroups: readonly string[];
  readonly machines: readonly PicturedMachine[];
}
