import type { CommandPackages } from "../../base/host-packages.js";

/** What building needs. The C library's headers do not come with the compiler. */
export const buildTools: CommandPackages = {
  gcc: "gcc",
  "/usr/include/stdio.h": "libc6-dev",
  gpg: "gnupg",
  "dpkg-deb": "dpkg",
  mmdebstrap: "mmdebstrap",
  tar: "tar",
};

/** The same for what fetches images as they are. */
export const mirrorTools: CommandPackages = { skopeo: "skopeo" };
