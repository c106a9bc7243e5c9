/**
 * Forwards between two interfaces with known impairments: stream frames from the first to the second are delayed, every
 * tenth is duplicated, every twentieth is reordered behind its successor.
 * Arguments: both interfaces, delay in milliseconds. Ends with stdin and prints its counters.
 */
import { epollPoller } from '../../../packages/agent/src/net/epoll/epoll-poller.ts';
import { kernelEventLoop } from '../../../packages/agent/src/net/loop/kernel-event-loop.ts';
import { requireDevice } from '../../../packages/agent/src/net/packet/device.ts';
import { readSignature, signatureBytes } from '../../../packages/agent/src/net/packet/frame/signature.ts';
import { sendFrame } from '../../../packages/agent/src/net/packet/frame-batch.ts';
import { rejectAllProgram } from '../../../packages/agent/src/net/packet/packet-filter.ts';
import { type ArrivedFrame, PacketRing } from '../../../packages/agent/src/net/packet/packet-ring.ts';
import { openSender } from '../../../packages/agent/src/net/packet/packet-socket.ts';

const [, , first = '', second = '', holdMs = '0'] = process.argv;
const everything: typeof rejectAllProgram = rejectAllProgram.map((line) => ({ ...line, k: 0x4_0000 }));
const sizes = { blocks: 1024, blockBytes: 16_384, retireMs: 1 };
const counts = { forwarded: 0, duplicated: 0, swapped: 0 };
const signature = { sender: 0, stream: 0, sequence: 0, seconds: 0, nanoseconds: 0 };
const waiting: { at: number; frame: Buffer }[] = [];
let late: Buffer | undefined;

const poller = epollPoller();
kernelEventLoop.acquire();
const devices = { first: requireDevice(first), second: requireDevice(second) };
const senders = { first: openSender(devices.first), second: openSender(devices.second) };

const alarm = kernelEventLoop.createAlarm(() => {
  while (waiting[0] !== undefined && waiting[0].at <= performance.now()) {
    sendFrame(senders.second, (waiting.shift() as { frame: Buffer }).frame);
    counts.forwarded++;
  }
  if (waiting[0] !== undefined) alarm.set(waiting[0].at);
});
const hold = (frame: Buffer) => {
  waiting.push({ at: performance.now() + Number(holdMs), frame });
  if (waiting.length === 1) alarm.set(waiting[0]?.at ?? 0);
};

const forward = ({ bytes, start, end }: ArrivedFrame) => {
  const frame = Buffer.from(bytes.subarray(start, end));
  if (frame.length < signatureBytes + 14 || !readSignature(frame, frame.length, signature)) {
    sendFrame(senders.second, frame);
    return;
  }
  if (signature.sequence % 20 === 5) {
    late = frame;
    return;
  }
  hold(frame);
  if (signature.sequence % 10 === 0) {
    hold(frame);
    counts.duplicated++;
  }
  if (late === undefined) return;
  hold(late);
  late = undefined;
  counts.swapped++;
};

new PacketRing({ device: devices.first, poller, filter: everything }, sizes, forward);
new PacketRing({ device: devices.second, poller, filter: everything }, sizes, ({ bytes, start, end }) =>
  sendFrame(senders.first, bytes.subarray(start, end)),
);
process.stdin
  .on('end', () => {
    console.log(JSON.stringify(counts));
    process.exit();
  })
  .resume();
console.log('ready');
