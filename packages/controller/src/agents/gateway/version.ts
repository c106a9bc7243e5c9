const partsOf = (version: string) => (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number);

/** Whether a version such as `1.4.2-rc1` is not older than another; what is no version is older than any. */
export const isAtLeast = (version: string, oldest: string) => {
  const [given, wanted] = [partsOf(version), partsOf(oldest)];
  if (given.length === 0) return wanted.every((part) => part === 0);
  for (const [at, part] of wanted.entries()) if (given[at] !== part) return (given[at] ?? 0) > part;
  return true;
};
