import type { CaptureFormat } from '../read/capture-format.ts';
import { CaptureWriter } from '../write/capture-writer.ts';
import { ethernetFrame } from '../write/frame-builder.ts';

export interface BuildOptions {
  format?: CaptureFormat;
  /** Between two packets. */
  stepMs?: number;
  /** Cut every frame to so many bytes. */
  snapLen?: number;
}

const FIRST_SECOND = 1_700_000_000;

/** A capture of Ethernet frames around the given IP packets, one millisecond apart. */
export function captureOf(ipPackets: readonly Uint8Array[], options: BuildOptions = {}): Uint8Array {
  return captureOfFrames(
    ipPackets.map((packet) => ethernetFrame(packet)),
    options,
  );
}

export function captureOfFrames(frames: readonly Uint8Array[], options: BuildOptions = {}, linkType = 1): Uint8Array {
  const writer = new CaptureWriter({ format: options.format ?? 'pcap', linkType });
  for (const [index, frame] of frames.entries()) {
    const microseconds = Math.round(index * (options.stepMs ?? 1) * 1000);
    writer.add({
      seconds: FIRST_SECOND + Math.floor(microseconds / 1e6),
      nanoseconds: (microseconds % 1e6) * 1000,
      bytes: frame,
      length: Math.min(frame.length, options.snapLen ?? frame.length),
      wireLength: frame.length,
    });
  }
  return writer.take();
}

/** The bytes in chunks of `size`, to show that borders do not matter. */
export function* chunksOf(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}
