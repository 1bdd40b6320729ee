import type { CommandPackages } from "../../../base/host-packages.js";

/**
 * Commands and files that a build needs, and their Debian packages. The compiler's package does not
 * contain the C library's headers.
 */
export const buildTools: CommandPackages = {
  gcc: "gcc",
  "/usr/include/stdio.h": "libc6-dev",
  gpg: "gnupg",
  "dpkg-deb": "dpkg",
  mmdebstrap: "mmdebstrap",
  tar: "tar",
};

/** Commands that mirror images, and their Debian packages. */
export const mirrorTools: CommandPackages = { skopeo: "skopeo" };
