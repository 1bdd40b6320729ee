import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import {
  readCloudsFileSettings,
  type CloudSettings,
} from "../../../../openstack/auth/clouds-file.js";

/** Smallest valid entry of a cloud. */
export const password = {
  auth: { auth_url: "http://k:5000", username: "u", password: "p", project_name: "x" },
};

/** Folder with clouds.yaml and related files. */
export class CloudsFolder {
  readonly path = mkdtempSync(join(tmpdir(), "clouds-"));

  file(name: string, content: string): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  put(name: string, clouds: unknown, key = "clouds"): string {
    return this.file(name, stringify({ [key]: clouds }));
  }

  /** Returns the settings of the cloud `one`, with this folder as a standard folder. */
  settingsOf(entry: object, env: NodeJS.ProcessEnv = {}): CloudSettings {
    const standard = [this.path];
    return readCloudsFileSettings("one", [this.put("clouds.yaml", { one: entry })], {
      env,
      standard,
    });
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

export function refusal(work: () => unknown): CloudError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof CloudError, String(error));
    return error;
  }
  return assert.fail("was accepted");
}
