/** Implements `command:remote:CopyToRemote`: copies an asset or archive over SFTP. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, posix } from "node:path";
import type { Client, SFTPWrapper } from "ssh2";
import type { JsonObject } from "../plugin/values.js";
import { isObject, getSignature, signatures } from "../plugin/values.js";
import type { ResourceOperation } from "./context.js";
import type { CopyInputs } from "./inputs.js";
import type { SshEnvironment } from "./remote-command.js";
import { dial } from "./ssh-connection.js";

/**
 * Copies the source to `remotePath`. If `remotePath` is an existing directory, a file is copied
 * into this directory. A directory is copied into the remote directory. If the path of the source
 * ends in a slash, only the directory's content is copied. Creates missing parent directories.
 */
export async function copyToRemote(
  inputs: CopyInputs,
  operation: ResourceOperation,
  { agentSocket }: SshEnvironment,
): Promise<void> {
  const entries = entriesOf(inputs.source);
  const session = await dial(inputs.connection, operation, agentSocket);
  try {
    const remote = new Remote(await openSftp(session.client));
    if (entries.kind === "file") await remote.copyFile(entries, inputs.remotePath);
    else await remote.copyTree(entries, inputs.remotePath);
  } finally {
    session.close();
  }
}

interface FileSource {
  readonly kind: "file";
  /** Name of the file. Undefined for text, which has no name. */
  readonly name: string | undefined;
  readonly content: Buffer;
}
interface TreeSource {
  readonly kind: "tree";
  /**
   * Directory to create inside the target. If undefined, the content is copied into the target
   * itself.
   */
  readonly name: string | undefined;
  /** Map from a path inside the tree to the file's content. Undefined content means a directory. */
  readonly files: ReadonlyMap<string, Buffer | undefined>;
}

function entriesOf(source: JsonObject): FileSource | TreeSource {
  const { path, text, assets } = source;
  const isAsset = getSignature(source) === signatures.asset;
  if (isAsset && typeof text === "string") {
    return { kind: "file", name: undefined, content: Buffer.from(text) };
  }
  if (typeof path === "string") {
    if (!existsSync(path)) throw new Error(`open ${path}: no such file or directory`);
    if (isAsset || !statSync(path).isDirectory()) {
      return { kind: "file", name: basename(path), content: readFileSync(path) };
    }
    const name = path.endsWith("/") ? undefined : basename(path);
    return { kind: "tree", name, files: directoryTree(path) };
  }
  if (isObject(assets)) return { kind: "tree", name: undefined, files: assetTree(assets) };
  throw new Error("asset must be a path-based file asset or a text asset");
}

function directoryTree(root: string): Map<string, Buffer | undefined> {
  const files = new Map<string, Buffer | undefined>();
  for (const entry of readdirSync(root, { recursive: true, encoding: "utf8" }).sort()) {
    const full = join(root, entry);
    files.set(entry, statSync(full).isDirectory() ? undefined : readFileSync(full));
  }
  return files;
}

function assetTree(assets: JsonObject): Map<string, Buffer | undefined> {
  const files = new Map<string, Buffer | undefined>();
  for (const [name, asset] of Object.entries(assets)) {
    const inner = entriesOf(isObject(asset) ? asset : {});
    if (inner.kind === "file") files.set(name, inner.content);
    else for (const [path, content] of inner.files) files.set(posix.join(name, path), content);
  }
  return files;
}

function openSftp(client: Client): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    client.sftp((error, sftp) => {
      if (error) reject(new Error(`ssh: subsystem request failed`, { cause: error }));
      else resolve(sftp);
    });
  });
}

/** SFTP status for a path that does not exist. */
const noSuchFile = 2;

class Remote {
  constructor(private readonly sftp: SFTPWrapper) {}

  async copyFile({ name, content }: FileSource, path: string): Promise<void> {
    const kind = await this.kindOf(path);
    if (kind === "directory" && name === undefined) {
      throw new Error(
        `remote path ${path} is a directory; when using a text asset, remotePath must be a file path`,
      );
    }
    if (kind === "missing") await this.makeDirectory(posix.dirname(path));
    const target = kind === "directory" && name !== undefined ? posix.join(path, name) : path;
    await this.write(target, content);
  }

  async copyTree({ name, files }: TreeSource, path: string): Promise<void> {
    const root = name === undefined ? path : posix.join(path, name);
    await this.makeDirectory(path);
    await this.makeDirectory(root);
    for (const [entry, content] of files) {
      const target = posix.join(root, entry);
      await this.makeDirectory(content === undefined ? target : posix.dirname(target));
      if (content !== undefined) await this.write(target, content);
    }
  }

  private kindOf(path: string): Promise<"missing" | "file" | "directory"> {
    return new Promise((resolve, reject) => {
      this.sftp.stat(path, (error: (Error & { code?: unknown }) | undefined, stats) => {
        if (!error) resolve(stats.isDirectory() ? "directory" : "file");
        else if (error.code === noSuchFile) resolve("missing");
        else reject(new Error(`failed to stat remote path ${path}: ${error.message}`));
      });
    });
  }

  private async makeDirectory(path: string): Promise<void> {
    const kind = await this.kindOf(path);
    if (kind === "file") throw new Error(`remote path ${path} exists but is not a directory`);
    if (kind === "directory") return;
    await this.makeDirectory(posix.dirname(path));
    await new Promise<void>((resolve, reject) => {
      this.sftp.mkdir(path, (error) => {
        if (!error) resolve();
        else reject(new Error(`failed to create remote directory ${path}: ${error.message}`));
      });
    });
  }

  private write(path: string, content: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const stream = this.sftp.createWriteStream(path);
      stream.once("error", (error: Error) => {
        reject(new Error(`failed to create remote file ${path}: ${error.message}`));
      });
      stream.once("close", resolve);
      stream.end(content);
    });
  }
}
