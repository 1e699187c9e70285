/** The release of sparkts. */
export const VERSION = "0.1.0";
