import type { RawHandler } from '@rushhour/wire';
import type { HostIcmp, HostIcmpEvents, HostPackets } from '../net/host-network.ts';
import type { Stack } from './stack.ts';

const addressWords = 4;

/** ICMP of emulated hosts. */
export const createStackIcmp = (stack: Stack, events: HostIcmpEvents): HostIcmp => {
  const { icmp } = stack.group;
  const key = new Int32Array(2 * addressWords);
  icmp.handler = events.onMessage;
  icmp.echoHandler = events.onEcho;
  icmp.onUnreachable = (_key, _host, message) => events.onUnreachable?.(message);
  return {
    get answered() {
      return icmp.counters.echoesAnswered;
    },
    writeAddress: (host, to, at) => stack.hosts.writeAddress(host, to, at),
    writeMac: (host, to) => stack.hosts.writeMac(host, to, 0),
    send(host, to, message) {
      stack.hosts.writeAddress(host, key, 0);
      key.set(to, addressWords);
      stack.scheduleFlush();
      return icmp.sendWhenKnown(key, host, message);
    },
    close() {
      icmp.handler = undefined;
      icmp.echoHandler = undefined;
      icmp.onUnreachable = undefined;
    },
  };
};

/** IP packets of emulated hosts. */
export const createStackPackets = (stack: Stack, onPacket: RawHandler): HostPackets => {
  const { group } = stack;
  const key = new Int32Array(2 * addressWords);
  group.rawHandler = onPacket;
  return {
    send(host, to, { protocol, bytes }) {
      stack.hosts.writeAddress(host, key, 0);
      key.set(to, addressWords);
      stack.scheduleFlush();
      const { output } = group;
      const at = output.begin(key, 0, host, protocol, bytes.length);
      if (at < 0) return false;
      output.memory.bytes.set(bytes, at);
      output.commit(at, bytes.length, 0);
      return true;
    },
    close() {
      group.rawHandler = undefined;
    },
  };
};
