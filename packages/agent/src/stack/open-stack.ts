import type { HostStack } from '@rushhour/protocol';
import type { Availability, Host } from '../engine.ts';
import { requireDevice } from '../net/packet/device.ts';
import { probePackets } from '../net/packet/packet-socket.ts';
import { probeEpoll } from '../net/path-probe.ts';
import { openPacketPort } from './packet-port.ts';
import { Stack } from './stack.ts';

/** Whether hosts can be emulated on this machine, or the reason why not. */
export const checkStack = (): Availability => {
  const reason = probePackets() ?? probeEpoll();
  if (reason !== undefined) return { isAvailable: false, missing: ['raw frames'], reason };
  return { isAvailable: true, path: 'packet socket' };
};

/** Opens the interface and starts the hosts of a job. */
export const openStack = (config: HostStack, host: Host): Stack => {
  const device = requireDevice(config.interface);
  if (!device.isEthernet) throw new Error(`hosts cannot be emulated on ${device.name}: it has no Ethernet`);
  const port = openPacketPort({ device, isCaptured: host.isCaptured ?? false });
  try {
    return new Stack(config, port, device.mac);
  } catch (error) {
    port.close();
    throw error;
  }
};
