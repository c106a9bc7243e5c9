import { checksumOf, foldSum, sumBytes } from '../bytes/checksum.ts';
import { copyOf, Memory } from '../bytes/memory.ts';
import type { SegmentCut } from '../host-group/hosts.ts';
import { ipv4Bytes } from '../ip/ipv4.ts';
import { ipv6Bytes } from '../ip/ipv6.ts';
import { tcpFlag } from '../tcp/segment/segment.ts';

const [sequenceAt, flagsAt, checksumAt] = [4, 13, 16];

/** Cuts a TCP segment whose checksum covers the pseudo-header alone, as a kernel or an interface does. */
export const cutSegment = (whole: Uint8Array, segmentBytes: number): Uint8Array[] => {
  const { view } = new Memory(whole);
  const headerBytes = (view.getUint8(12) >>> 4) << 2;
  const payload = whole.length - headerBytes;
  // Without the length, which the sum covers, too.
  const pseudoSum = foldSum(view.getUint16(checksumAt) + (~whole.length & 0xffff));
  return Array.from({ length: Math.ceil(payload / segmentBytes) }, (_, index) => {
    const start = index * segmentBytes;
    const end = Math.min(start + segmentBytes, payload);
    const memory = new Memory(
      Uint8Array.from([...whole.subarray(0, headerBytes), ...whole.subarray(headerBytes + start, headerBytes + end)]),
    );
    memory.view.setInt32(sequenceAt, view.getInt32(sequenceAt) + start);
    if (end < payload) memory.view.setUint8(flagsAt, view.getUint8(flagsAt) & ~(tcpFlag.psh | tcpFlag.fin));
    memory.view.setUint16(checksumAt, 0);
    const { length } = memory.bytes;
    memory.view.setUint16(checksumAt, checksumOf(pseudoSum + length + sumBytes(memory, 0, length)));
    return memory.bytes;
  });
};

/** Frames with the segments of a large TCP packet, `cut` relative to its frame. */
export const cutFrame = (frame: Uint8Array, { tcpAt, segmentBytes, isV6 }: SegmentCut): Uint8Array[] =>
  cutSegment(copyOf(frame, tcpAt), segmentBytes).map((segment, index) => {
    const memory = new Memory(Uint8Array.from([...frame.subarray(0, tcpAt), ...segment]));
    const { view } = memory;
    const ip = tcpAt - (isV6 ? ipv6Bytes : ipv4Bytes);
    if (isV6) {
      view.setUint16(ip + 4, segment.length);
      return memory.bytes;
    }
    view.setUint16(ip + 2, ipv4Bytes + segment.length);
    view.setUint16(ip + 4, view.getUint16(ip + 4) + index);
    view.setUint16(ip + 10, 0);
    view.setUint16(ip + 10, checksumOf(sumBytes(memory, ip, tcpAt)));
    return memory.bytes;
  });
