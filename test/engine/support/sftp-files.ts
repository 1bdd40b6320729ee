/** Minimal SFTP server that copies files into a directory, which stands for the machine's root. */
import { closeSync, mkdirSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { SFTPWrapper } from "ssh2";

const status = { ok: 0, noSuchFile: 2, failure: 4 } as const;

export function serveFiles(sftp: SFTPWrapper, root: string): void {
  const handles = new Map<number, number>();
  let last = 0;
  const attempt = (request: number, work: () => void): void => {
    try {
      work();
    } catch (error) {
      const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
      sftp.status(request, missing ? status.noSuchFile : status.failure);
    }
  };
  const stat = (request: number, path: string): void => {
    attempt(request, () => {
      const { mode, uid, gid, size, atimeMs, mtimeMs } = statSync(join(root, path));
      sftp.attrs(request, { mode, uid, gid, size, atime: atimeMs / 1000, mtime: mtimeMs / 1000 });
    });
  };
  sftp.on("STAT", stat);
  sftp.on("LSTAT", stat);
  sftp.on("REALPATH", (request, path) => {
    sftp.name(request, [{ filename: path, longname: path, attrs: noAttributes }]);
  });
  sftp.on("MKDIR", (request, path) => {
    attempt(request, () => {
      mkdirSync(join(root, path));
      sftp.status(request, status.ok);
    });
  });
  sftp.on("OPEN", (request, path) => {
    attempt(request, () => {
      handles.set(++last, openSync(join(root, path), "w"));
      const handle = Buffer.alloc(4);
      handle.writeUInt32BE(last);
      sftp.handle(request, handle);
    });
  });
  const withFile = (request: number, handle: Buffer, work: (file: number) => void): void => {
    attempt(request, () => {
      const file = handles.get(handle.readUInt32BE());
      if (file === undefined) throw new Error("no such handle");
      work(file);
      sftp.status(request, status.ok);
    });
  };
  sftp.on("WRITE", (request, handle, offset, data) => {
    withFile(request, handle, (file) => writeSync(file, data, 0, data.length, offset));
  });
  sftp.on("FSETSTAT", (request, handle) => {
    withFile(request, handle, () => undefined);
  });
  sftp.on("CLOSE", (request, handle) => {
    withFile(request, handle, closeSync);
  });
}

const noAttributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 };
