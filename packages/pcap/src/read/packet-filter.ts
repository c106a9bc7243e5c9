import { addressBytesOf, type Frame, TCP, UDP } from '../dissect/frame.ts';
import { parseAddress } from '../dissect/ip-address.ts';
import { PcapError } from '../pcap-error.ts';

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
    const isAt = (offset: number) => address.every((byte, index) => frame.bytes[offset + index] === byte);
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

const MAX_RANGES = 10_000;

/** A test for packet numbers out of a text such as "1-500,600"; an open end as in "600-" reaches to the last packet. */
export function parsePacketRanges(text: string): (number: number) => boolean {
  const ranges = text.split(',').map((part) => parseRange(part.trim(), text));
  if (ranges.length > MAX_RANGES) throw new PcapError('BAD_RANGE', `More than ${MAX_RANGES} packet ranges.`);
  const merged = merge(ranges.sort((left, right) => left[0] - right[0]));
  return (number) => isInside(merged, number);
}

type Range = [first: number, last: number];

function parseRange(part: string, text: string): Range {
  const match = /^(\d{1,15})(?:(-)(\d{1,15})?)?$/.exec(part);
  const first = Number(match?.[1] ?? 0);
  const last = match?.[2] === undefined ? first : Number(match[3] ?? Number.MAX_SAFE_INTEGER);
  if (first < 1 || last < first)
    throw new PcapError('BAD_RANGE', `"${text}" is not a list of packet ranges like 1-500,600.`);
  return [first, last];
}

function merge(sorted: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous !== undefined && range[0] <= previous[1] + 1) previous[1] = Math.max(previous[1], range[1]);
    else merged.push([...range]);
  }
  return merged;
}

function isInside(ranges: readonly Range[], number: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as Range)[1] < number) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && range[0] <= number;
}
