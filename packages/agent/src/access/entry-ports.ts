import { AccessPort, type EntryPort } from './access-port.ts';
import type { Profiles } from './options/access-profiles.ts';
import { LagPort } from './switches/lag-port.ts';

/** Ports of an entry: its interfaces, or the group that they form. */
export const openEntryPorts = (
  interfaces: readonly string[],
  { lag }: Profiles,
  isCaptured: boolean,
): readonly EntryPort[] => {
  if (lag !== undefined) return [new LagPort(interfaces, isCaptured, lag)];
  const ports: AccessPort[] = [];
  try {
    for (const name of interfaces) ports.push(new AccessPort(name, isCaptured));
  } catch (error) {
    for (const port of ports) port.close();
    throw error;
  }
  return ports;
};
