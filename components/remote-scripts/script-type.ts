/** Type of the resources that run scripts on machines. */
export const scriptType = "command:remote:Command";

/** Type of the resources that copy scripts to machines. */
export const copiedScriptsType = "command:remote:CopyToRemote";

/**
 * Value in the state in the place of a command that did not finish. The next run finds a difference
 * from the command and runs the script again.
 */
export const unfinishedCommandMarker = "did not come to its end";
