/**
 * Keys that sign the packages of this distribution, such as `rh_key_…`. Every agent of it accepts their packages.
 * `npm run agent:key` creates a pair; `npm run release -- --key FILE` adds the public key to the list of a release. A
 * package carries the list of its release, so that keys can be replaced.
 */
export const releaseKeys: readonly string[] = [];
