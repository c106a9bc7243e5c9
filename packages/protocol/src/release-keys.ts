/**
 * Keys that sign the packages of this distribution, such as `rh_key_…`. Every agent of it accepts their packages.
 * A distributor adds the public key here (`npm run agent:key` creates a pair); a package may carry a new list, so that
 * keys can be replaced.
 */
export const releaseKeys: readonly string[] = [];
