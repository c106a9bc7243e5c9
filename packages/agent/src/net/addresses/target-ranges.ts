import { formatAddress, parseAddress } from '@rushhour/pools';
import type { Target } from '@rushhour/protocol';

interface ExpandedTargets {
  readonly config: unknown;
  /** The name of the metrics of a target that is part of a range. */
  readonly names: ReadonlyMap<string, string>;
}

const addressesOf = ({ host, last }: Target): string[] => {
  const [from, to] = [parseAddress(host), parseAddress(last ?? host)];
  if (from.version !== to.version || to.value < from.value) throw new RangeError(`${host}-${last} is not a range`);
  return Array.from({ length: Number(to.value - from.value) + 1 }, (_, i) =>
    formatAddress(from.version, from.value + BigInt(i)),
  );
};

/** Replaces targets that are ranges by their addresses, which share the weight and the metrics of the range. */
export const expandTargets = (config: unknown): ExpandedTargets => {
  const { targets } = (config ?? {}) as { readonly targets?: readonly Target[] };
  const names = new Map<string, string>();
  if (!Array.isArray(targets) || !targets.some(({ last }) => last !== undefined)) return { config, names };
  const single = (targets as readonly Target[]).flatMap((target) => {
    const { last, ...rest } = target;
    if (last === undefined) return [rest];
    const addresses = addressesOf(target);
    return addresses.map((host) => {
      names.set(host, `${target.host}-${last}`);
      names.set(`${host}:${target.port}`, `${target.host}-${last}:${target.port}`);
      return { ...rest, host, weight: target.weight / addresses.length };
    });
  });
  return { config: { ...(config as object), targets: single }, names };
};
