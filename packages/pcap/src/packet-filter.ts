import { addressBytesOf, type Frame, TCP, UDP } from './frame.ts';
import { parseAddress } from './ip-address.ts';
import { PcapError } from './pcap-error.ts';

export type PacketTest = (frame: Frame) => boolean;

/** Understands `tcp`, `udp`, `host ADDRESS` and `port NUMBER`, joined by `and`; an empty text passes every packet. */
export function parseFilter(text: string): PacketTest {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const tests: PacketTest[] = [];
  for (let at = 0; at < words.length; ) {
    if (tests.length > 0 && words[at++]?.toLowerCase() !== 'and') throw badFilter(text, 'terms are joined by "and"');
    const word = words[at++]?.toLowerCase();
    if (word === 'tcp' || word === 'udp') tests.push(protocolTest(word === 'tcp' ? TCP : UDP));
    else if (word === 'host') tests.push(hostTest(words[at++] ?? '', text));
    else if (word === 'port') tests.push(portTest(words[at++] ?? '', text));
    else throw badFilter(text, `"${word ?? ''}" is not one of tcp, udp, host, port`);
  }
  return (frame) => tests.every((test) => test(frame));
}

function protocolTest(protocol: number): PacketTest {
  return (frame) => frame.ipVersion !== 0 && frame.protocol === protocol;
}

function hostTest(word: string, text: string): PacketTest {
  let address: Uint8Array;
  try {
    address = parseAddress(word);
  } catch {
    throw badFilter(text, `"${word}" is not an IP address`);
  }
  return (frame) => {
    if (frame.ipVersion === 0 || addressBytesOf(frame) !== address.length) return false;
    const isAt = (place: number) => address.every((byte, index) => frame.bytes[place + index] === byte);
    return isAt(frame.source) || isAt(frame.destination);
  };
}

function portTest(word: string, text: string): PacketTest {
  const port = Number(word);
  if (!/^\d{1,5}$/.test(word) || port > 65_535) throw badFilter(text, `"${word}" is not a port`);
  return (frame) => frame.hasPorts && (frame.sourcePort === port || frame.destinationPort === port);
}

function badFilter(text: string, reason: string): PcapError {
  return new PcapError('BAD_FILTER', `The filter "${text}" cannot be read: ${reason}.`);
}
