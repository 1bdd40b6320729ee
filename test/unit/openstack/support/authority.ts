import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../../base/run-command.js";

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Certificate authority in a temporary folder; `ca.pem` is its certificate. Needs the command
 * `openssl`.
 */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), "authority-"));

  static async found(): Promise<Authority> {
    const authority = new Authority();
    await authority.make("ca", []);
    return authority;
  }

  path(file: string): string {
    return join(this.folder, file);
  }

  read(file: string): string {
    return readFileSync(this.path(file), "utf8");
  }

  /**
   * Signs a certificate; writes `<name>.pem` and `<name>.key`.
   *
   * @param subject host of the certificate. Default: 127.0.0.1
   */
  async sign(name: string, subject = "IP:127.0.0.1"): Promise<Pair> {
    await this.make(name, [
      ...["-CA", this.path("ca.pem"), "-CAkey", this.path("ca.key")],
      ...["-addext", `subjectAltName=${subject}`, "-addext", "basicConstraints=CA:FALSE"],
    ]);
    return { cert: this.read(`${name}.pem`), key: this.read(`${name}.key`) };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private async make(name: string, more: readonly string[]): Promise<void> {
    await run("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-subj", `/CN=${name}`, "-days", "2", ...more],
      ...["-keyout", this.path(`${name}.key`), "-out", this.path(`${name}.pem`)],
    ]);
  }
}
