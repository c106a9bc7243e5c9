import { readFileSync } from 'node:fs';
import { availableParallelism, networkInterfaces } from 'node:os';
import type { Host } from '../engine.ts';

const netAdminBit = 12n;

/** Reads the effective capabilities: root in a container may have none. */
const hasNetAdmin = (): boolean => {
  try {
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${effective}`) >> netAdminBit) & 1n) === 1n;
  } catch {
    return false;
  }
};

export const describeHost = (): Host => ({
  platform: process.platform,
  cpuCores: availableParallelism(),
  isNetAdmin: hasNetAdmin(),
  addresses: Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map((entry) => entry.address)),
});
