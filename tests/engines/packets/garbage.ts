/**
 * Sends malformed frames with our signature: false lengths, deep tag stacks, truncated frames.
 * Arguments: the interface, the MAC of the other end, the number of frames.
 */
import { requireDevice } from '../../../packages/agent/src/net/packet/device.ts';
import { parseMac } from '../../../packages/agent/src/net/packet/frame/link-layers.ts';
import { signatureBytes, signatureMark } from '../../../packages/agent/src/net/packet/frame/signature.ts';
import { sendFrame } from '../../../packages/agent/src/net/packet/frame-batch.ts';
import { openSender } from '../../../packages/agent/src/net/packet/packet-socket.ts';

const [, , name = '', mac = '', count = '0'] = process.argv;
const device = requireDevice(name);
const socket = openSender(device);

// A fixed seed: failures are reproducible.
let state = 2544;
const chance = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const types = [0x0800, 0x86dd, 0x8100, 0x88a8, 0x8847, 0x0806, 0x0001];
const trialStream = 0xff_ffff;

for (let index = 0; index < Number(count); index++) {
  const frame = Buffer.alloc(32 + chance(index % 10 === 0 ? 1482 : 140));
  for (let at = 14; at < frame.length; at++) frame[at] = chance(256);
  frame.set(parseMac(mac), 0);
  frame.set(device.mac, 6);
  const tags = chance(9);
  for (let tag = 0; tag < tags && 14 + tag * 4 < frame.length - 2; tag++) frame.writeUInt16BE(0x8100, 12 + tag * 4);
  const typeAt = Math.min(12 + tags * 4, frame.length - 2);
  frame.writeUInt16BE(types[chance(types.length)] ?? 0, typeAt);
  const end = frame.length - signatureBytes;
  if (end >= 14) {
    frame.writeUIntBE(signatureMark, end, 3);
    if (chance(2) === 0) frame.writeUIntBE(trialStream, end + 5, 3);
    // The offset at which a query would begin.
    if (chance(2) === 0 && end - 81 >= 14) frame[end - 81] = 1 + chance(3);
  }
  sendFrame(socket, frame);
}
