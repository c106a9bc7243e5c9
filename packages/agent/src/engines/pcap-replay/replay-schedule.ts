import { createReadStream } from 'node:fs';
import { ReplayCapture, type ReplayFrame, type ReplayRules } from '@rushhour/pcap';
import type { ReplayPart } from '@rushhour/protocol';
import { FrameStock, unknownMac } from './frame-stock.ts';
import type { Expectation } from './receiver.ts';
import type { ReplayEnds } from './replay-ends.ts';
import { SegmentIndex } from './segment-index.ts';
import { type Timetable, timetableOf } from './timetable.ts';

export interface ReplayScheduleOptions {
  readonly part: Omit<ReplayPart, 'startAfterMs'>;
  readonly role: 'client' | 'server';
  readonly mac: Uint8Array;
  readonly ends: ReplayEnds;
  /** For a server: whether it owns this address; undefined: packets without a server address. */
  readonly isOwn: (server: string | undefined) => boolean;
  readonly note: (remark: string) => void;
}

/** What one side sends and expects in one loop of a capture. */
export interface ReplaySchedule {
  readonly stock: FrameStock;
  readonly expected: Expectation;
  readonly timetable: Timetable | undefined;
  /** Frames of both sides. */
  readonly frames: number;
  readonly clients: number;
  readonly truncated: number;
}

/** Reads the capture and builds all frames, except for the MAC of the next hop. */
export const readReplaySchedule = async (options: ReplayScheduleOptions): Promise<ReplaySchedule> => {
  const { part, role, ends } = options;
  const { include, exclude, packets, clientIp, maxGapMs } = part;
  const capture = await ReplayCapture.read(createReadStream(part.capture, { highWaterMark: 1_048_576 }), {
    maxGapMs,
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
    ...(packets !== undefined && { packets }),
    ...(clientIp !== undefined && { clientIp }),
  });
  const stock = new FrameStock();
  const segments = new SegmentIndex();
  const [keys, lengths, timesMs, all]: [number[], number[], number[], number[]] = [[], [], [], []];
  const outcome = capture.play(rulesOf(options), (frame) => {
    const isOwnServer = role === 'client' || options.isOwn(hostOf(ends, frame.server));
    if (frame.isFromClient === (role === 'client')) {
      if (isOwnServer) stock.add(frame, all.length);
    } else if (isOwnServer) {
      keys.push(frame.key);
      lengths.push(frame.length);
      if (frame.segment !== undefined) segments.add(frame.segment, frame.key);
    }
    timesMs.push(frame.timeMs);
    all.push(frame.length);
  });
  if (all.length === 0) throw new RangeError(nothingLeft(outcome));
  stock.finish();
  noteSkipped(options, capture, outcome);
  const expected = {
    keys,
    lengths,
    segments,
    loops: part.loops,
    isFrom: (address: string) => ends.clients.has(address),
  };
  const timetable = timetableOf({ timesMs, lengths: all }, part);
  return { stock, expected, timetable, frames: all.length, clients: outcome.clients, truncated: capture.truncated };
};

const hostOf = (ends: ReplayEnds, server: ReplayFrame['server']): string | undefined =>
  server && ends.serverHost(server.index, server.size);

const rulesOf = ({ part, mac, ends }: ReplayScheduleOptions): ReplayRules => {
  const { hasNewAddresses, hasNewMacs, hasNewPorts: _, ...rewrite } = part.rewrite;
  return {
    ...rewrite,
    ...(hasNewAddresses && { ends }),
    macs: { source: mac, destination: unknownMac },
    keepsMacs: !hasNewMacs,
  };
};

type Outcome = ReturnType<ReplayCapture['play']>;

const nothingLeft = ({ notFrames, noAddress, tooLong }: Outcome): string => {
  if (noAddress > 0)
    return 'no packet of the capture can be sent: there is no source or target address of its IP version';
  if (tooLong > 0) return 'no packet of the capture can be sent: all exceed the MTU and cannot be fragmented';
  return `no packet of the capture can be sent: ${notFrames} packets have a link layer that cannot be converted to Ethernet`;
};

const noteSkipped = (
  { note, part, ends }: ReplayScheduleOptions,
  { isCut, truncated }: ReplayCapture,
  outcome: Outcome,
): void => {
  const { notFrames, noAddress, tooLong, clients } = outcome;
  if (isCut) note('the capture ends within a packet: the packets before it are replayed');
  if (truncated > 0) note(`${truncated} packets are truncated in the capture: missing bytes are sent as zeros`);
  if (notFrames > 0) note(`${notFrames} packets were skipped: their link layer cannot be converted to Ethernet`);
  if (noAddress > 0) note(`${noAddress} packets were skipped: there is no address of their IP version`);
  if (tooLong > 0) note(`${tooLong} packets were skipped: they exceed the MTU and cannot be fragmented`);
  if (part.rewrite.hasNewAddresses && clients > ends.clientCount)
    note(`${clients} clients of the capture share ${ends.clientCount} addresses: some flows may collide`);
};
